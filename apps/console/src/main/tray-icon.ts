import type { ConnectionState } from "../shared/native.ts";

/** The tray's picture: a ring, and a dot in the colour of the state. */

const size = 32;
const colours: Readonly<Record<ConnectionState, readonly [number, number, number]>> = {
  running: [69, 158, 145],
  starting: [217, 163, 59],
  stopped: [160, 160, 160],
  "not-allowed": [217, 60, 46],
  broken: [217, 60, 46],
};

/** Pixels of four bytes each (blue, green, red, alpha), as nativeImage.createFromBitmap takes them. */
export function trayPixels(state: ConnectionState): { pixels: Buffer; size: number } {
  const pixels = Buffer.alloc(size * size * 4);
  const [red, green, blue] = colours[state];
  const centre = (size - 1) / 2;
  for (let y = 0; y < size; y += 1) {
    for (let x = 0; x < size; x += 1) {
      const distance = Math.hypot(x - centre, y - centre);
      const alpha = Math.max(edge(distance, 8), edge(distance, 15) - edge(distance, 12));
      // Premultiplied.
      pixels.set([blue * alpha, green * alpha, red * alpha, 255 * alpha].map(Math.round), (y * size + x) * 4);
    }
  }
  return { pixels, size };
}

/** 1 inside a circle, 0 outside, and a smooth step of one pixel between. */
const edge = (distance: number, radius: number) => Math.min(1, Math.max(0, radius + 0.5 - distance));
