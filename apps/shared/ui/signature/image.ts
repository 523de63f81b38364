import {
  maxSignatureBytes,
  maxSignatureHeight,
  maxSignatureWidth,
} from "../../../../server/features/signing/contract.ts";

/** Signature images: cut to the ink, within the limits of the service, as PNG. */

const widest = Math.min(1200, maxSignatureWidth);
const tallest = Math.min(600, maxSignatureHeight);

/** The part of the canvas that carries ink as a PNG data URL; null when there is none. */
export function inkOf(canvas: HTMLCanvasElement): string | null {
  const box = inkBox(canvas);
  return box ? pngOf(canvas, box) : null;
}

type Rect = { x: number; y: number; width: number; height: number };

function inkBox(canvas: HTMLCanvasElement): Rect | null {
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (!context || canvas.width === 0 || canvas.height === 0) return null;
  const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
  let [left, top, right, bottom] = [canvas.width, canvas.height, -1, -1];
  for (let y = 0; y < canvas.height; y++) {
    for (let x = 0; x < canvas.width; x++) {
      if ((data[(y * canvas.width + x) * 4 + 3] ?? 0) < 8) continue;
      left = Math.min(left, x);
      right = Math.max(right, x);
      top = Math.min(top, y);
      bottom = Math.max(bottom, y);
    }
  }
  if (right < 0) return null;
  const margin = 4;
  const x = Math.max(0, left - margin);
  const y = Math.max(0, top - margin);
  return {
    x,
    y,
    width: Math.min(canvas.width, right + margin + 1) - x,
    height: Math.min(canvas.height, bottom + margin + 1) - y,
  };
}

/** Draws a part of a picture as PNG, smaller and smaller until it is within 512 KB. */
function pngOf(source: CanvasImageSource, part: Rect): string {
  let scale = Math.min(1, widest / part.width, tallest / part.height);
  for (;;) {
    const canvas = document.createElement("canvas");
    canvas.width = Math.max(1, Math.round(part.width * scale));
    canvas.height = Math.max(1, Math.round(part.height * scale));
    canvas
      .getContext("2d")
      ?.drawImage(source, part.x, part.y, part.width, part.height, 0, 0, canvas.width, canvas.height);
    const url = canvas.toDataURL("image/png");
    // Four base64 characters carry three bytes.
    if ((url.length - url.indexOf(",") - 1) * 0.75 <= maxSignatureBytes || canvas.width < 100) return url;
    scale *= 0.75;
  }
}

/**
 * A picture file as a PNG data URL within the limits.
 * @throws when the browser cannot read it as a picture
 */
export async function pictureOf(file: File): Promise<string> {
  const bitmap = await createImageBitmap(file);
  try {
    return pngOf(bitmap, { x: 0, y: 0, width: bitmap.width, height: bitmap.height });
  } finally {
    bitmap.close();
  }
}
