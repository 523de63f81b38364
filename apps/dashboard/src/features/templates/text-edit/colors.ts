/** The colours of a piece of a page: what lies behind a text, and the text's own. Pure. */

export type Colors = {
  /** `#rrggbb`; white where there is more than one. */
  background: string;
  ink: string;
};

/** Of the pixels at the edge: from here on they are one colour. */
const nearlyAll = 0.97;

/** @param pixels red, green, blue, opacity of each, row by row */
export function colorsIn(pixels: Uint8ClampedArray, width: number, height: number): Colors {
  const all = new Map<number, number>();
  const edge = new Map<number, number>();
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const at = (y * width + x) * 4;
      const color = ((pixels[at] ?? 255) << 16) | ((pixels[at + 1] ?? 255) << 8) | (pixels[at + 2] ?? 255);
      count(all, color);
      if (x === 0 || y === 0 || x === width - 1 || y === height - 1) count(edge, color);
    }
  }
  const behind = mostOf(edge) ?? 0xffffff;
  const share = (edge.get(behind) ?? 0) / Math.max(1, 2 * (width + height) - 4);
  // Where letters end, colours mix: the text has the one that is far from what is behind it and there most often.
  const farthest = Math.max(0, ...[...all.keys()].map((color) => distance(color, behind)));
  const inks = new Map([...all].filter(([color]) => farthest > 40 && distance(color, behind) > 0.6 * farthest));
  return {
    background: share >= nearlyAll ? hex(behind) : "#ffffff",
    ink: hex(mostOf(inks) ?? 0x000000),
  };
}

const count = (counts: Map<number, number>, color: number) => counts.set(color, (counts.get(color) ?? 0) + 1);

function mostOf(counts: ReadonlyMap<number, number>): number | undefined {
  let best: number | undefined;
  for (const [color, times] of counts) if (best === undefined || times > (counts.get(best) ?? 0)) best = color;
  return best;
}

function distance(one: number, other: number): number {
  const part = (color: number, shift: number) => (color >> shift) & 255;
  return Math.hypot(...[16, 8, 0].map((shift) => part(one, shift) - part(other, shift)));
}

const hex = (color: number): string => `#${color.toString(16).padStart(6, "0")}`;
