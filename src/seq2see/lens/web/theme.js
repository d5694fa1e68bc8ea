// Light or dark: the reader's choice, else the system's; and the inks of the style sheet for canvases.

import { palette } from "seq2see/colour";

const dark = matchMedia("(prefers-color-scheme: dark)");
const INKS = ["ink", "muted", "faint", "line", "panel", "paper", "accent", "mark", "soft", "gain", "loss"];
let chosen = null;
let inks = null;

export const font = (size, weight = 400) => `${weight} ${size}px system-ui, "Noto Sans", "Segoe UI", sans-serif`;

export function theme() {
  return chosen ?? (dark.matches ? "dark" : "light");
}

export function wear(name) {
  chosen = name;
  document.documentElement.dataset.theme = theme();
  const style = getComputedStyle(document.documentElement);
  inks = Object.fromEntries(INKS.map((ink) => [ink, style.getPropertyValue(`--${ink}`).trim()]));
  inks.palette = palette(theme());
}

export function colours() {
  return inks;
}

export function onSystemChange(act) {
  dark.addEventListener("change", act);
}
