// One way to make elements; data only ever becomes text, so nothing a model says can become markup.

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") made.addEventListener(name, value);
    else if (name === "text") made.textContent = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** @param {HTMLCanvasElement} canvas */
export function inkOf(canvas) {
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser gives no canvas to draw on");
  return context;
}

export function choices(select, entries, chosen) {
  // Replacing options closes an open list, so it happens only when they differ.
  const wanted = JSON.stringify(entries);
  if (select.dataset.entries !== wanted) {
    select.dataset.entries = wanted;
    select.replaceChildren(...entries.map(([value, text]) => element("option", { value, text })));
  }
  select.value = chosen;
}

export function button(id, text, title, act) {
  return element("button", { type: "button", id, title, click: act, text });
}

export async function copy(text, said) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Pages opened from a file or over plain http on another name have no clipboard of their own.
    const area = element("textarea", { class: "unseen" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  said.textContent = "Copied";
  setTimeout(() => (said.textContent = said.dataset.text), 1200);
}
