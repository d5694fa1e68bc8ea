// Colour scales, ordered by lightness so that they survive print and colour-blind eyes; zero is the paper itself.

// OKLab to linear sRGB, from Ottosson 2020, "A perceptual color space for image processing".
function rgb([light, a, b]) {
  const l = (light + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (light - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (light - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  return /** @type {[number, number, number]} */ (
    linear.map((value) => {
      const bounded = Math.min(1, Math.max(0, value));
      return Math.round(255 * (bounded <= 0.0031308 ? 12.92 * bounded : 1.055 * bounded ** (1 / 2.4) - 0.055));
    })
  );
}

const polar = (light, chroma, hue) => [
  light,
  chroma * Math.cos((hue * Math.PI) / 180),
  chroma * Math.sin((hue * Math.PI) / 180),
];

// The first of each is the panel the map lies on.
const ANCHORS = {
  light: {
    weights: [[1, 0, 0], polar(0.655, 0.135, 250), polar(0.31, 0.12, 264)],
    below: [[1, 0, 0], polar(0.78, 0.11, 60), polar(0.52, 0.14, 48)],
    above: [[1, 0, 0], polar(0.76, 0.1, 250), polar(0.5, 0.16, 258)],
  },
  dark: {
    weights: [[0.231, -0.002, -0.012], polar(0.58, 0.125, 250), polar(0.94, 0.05, 215)],
    below: [[0.231, -0.002, -0.012], polar(0.52, 0.11, 50), polar(0.82, 0.13, 65)],
    above: [[0.231, -0.002, -0.012], polar(0.52, 0.12, 255), polar(0.82, 0.1, 235)],
  },
};

function between(anchors, share) {
  const place = share * (anchors.length - 1);
  const from = Math.min(anchors.length - 2, Math.floor(place));
  const rest = place - from;
  return anchors[from].map((value, axis) => value + (anchors[from + 1][axis] - value) * rest);
}

const packed = ([red, green, blue]) => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
const STEPS = 256;

/** @returns {[number, number, number][]} */
function ramp(anchors) {
  return Array.from({ length: STEPS }, (_, place) => rgb(between(anchors, place / (STEPS - 1))));
}

class Palette {
  constructor(name) {
    const anchors = ANCHORS[name];
    this.name = name;
    this.colours = ramp(anchors.weights);
    this.weights = Uint32Array.from(this.colours, packed);
    const signed = [...ramp(anchors.below).slice(1).reverse(), ...ramp(anchors.above)];
    this.signedColours = signed;
    this.signed = Uint32Array.from(signed, packed); // 511 entries, zero in the middle
  }

  css(share, signed = false) {
    const colours = signed ? this.signedColours : this.colours;
    const place = signed ? Math.round((share + 1) * 255) : Math.round(share * 255);
    return `rgb(${colours[Math.min(colours.length - 1, Math.max(0, place))].join(" ")})`;
  }
}

const made = {};

export function palette(name) {
  made[name] ??= new Palette(name);
  return made[name];
}
