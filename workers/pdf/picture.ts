/** PNG (RFC 2083) and JPEG pictures as image XObjects (ISO 32000-1 §8.9.5), passed through undecoded where possible. */
import { deflateSync, inflateSync } from "node:zlib";
import { readJpeg } from "./jpeg.ts";
import { dict, name, PdfDict, PdfError, type PdfObject, type PdfRef, PdfString } from "./objects.ts";
import { pixelsOf, readPng, unfiltered } from "./png.ts";
import type { Revision } from "./revision.ts";

export type Matrix = readonly [number, number, number, number, number, number];
const UPRIGHT: Matrix = [1, 0, 0, 1, 0, 0];

export type Picture = {
  /** pixels, as displayed */
  width: number;
  height: number;
  /** From the image's unit square to the displayed picture's. */
  turn: Matrix;
  /** Adds the image to a revision and returns its reference. */
  embed: (revision: Revision) => PdfRef;
};

/** Reads a picture's header and checks its data. @throws PdfError `unsupported` for anything but a sound PNG or JPEG. */
export function readPicture(bytes: Uint8Array): Picture {
  if (bytes[0] === 0x89 && bytes[1] === 0x50) return pngPicture(bytes);
  if (bytes[0] === 0xff && bytes[1] === 0xd8) return jpegPicture(bytes);
  throw new PdfError("unsupported", "the picture is neither PNG nor JPEG");
}

function image(width: number, height: number, bits: number, space: PdfObject, more: Record<string, PdfObject> = {}) {
  return dict({
    Type: name("XObject"),
    Subtype: name("Image"),
    Width: width,
    Height: height,
    BitsPerComponent: bits,
    ColorSpace: space,
    ...more,
  });
}

const DEVICE = { 1: name("DeviceGray"), 3: name("DeviceRGB"), 4: name("DeviceCMYK") } as const;

function pngPicture(bytes: Uint8Array): Picture {
  const png = readPng(bytes);
  const { width, height } = png;
  const filtered = inflated(png.data, png.filteredLength);
  const opaque = (png.colorType === 0 || png.colorType === 2 || png.colorType === 3) && !png.transparency;
  if (opaque && !png.interlaced) {
    const colors = png.colorType === 2 ? 3 : 1;
    const space = png.palette
      ? [name("Indexed"), DEVICE[3], png.palette.length / 3 - 1, new PdfString(png.palette, true)]
      : DEVICE[colors];
    const parms = dict({ Predictor: 15, Colors: colors, BitsPerComponent: png.bits, Columns: width });
    const header = image(width, height, png.bits, space, { Filter: name("FlateDecode"), DecodeParms: parms });
    return { width, height, turn: UPRIGHT, embed: (revision) => revision.addStream(header, png.data) };
  }
  const rgba = pixelsOf(png, unfiltered(png, filtered));
  return { width, height, turn: UPRIGHT, embed: (revision) => embedPixels(revision, width, height, rgba) };
}

function inflated(data: Uint8Array, length: number): Uint8Array {
  try {
    // In one piece: the default pieces of 16 kB would all be copied once more.
    const out = inflateSync(data, { maxOutputLength: length + 1024, chunkSize: length + 1024 });
    if (out.length >= length) return out;
  } catch {
    // Said below, the same for every way in which the data can be wrong.
  }
  throw new PdfError("unsupported", "the PNG picture is damaged");
}

/** Colour and transparency as two images. Ink of one colour, as signature pads make it, needs a single colour pixel. */
function embedPixels(revision: Revision, width: number, height: number, rgba: Uint8Array): PdfRef {
  const count = width * height;
  const alpha = new Uint8Array(count);
  const pixels = new DataView(rgba.buffer, rgba.byteOffset, count * 4);
  let ink = -1;
  let plain = true;
  for (let i = 0; i < count; i++) {
    const pixel = pixels.getUint32(4 * i);
    const opacity = pixel & 0xff;
    if (opacity === 0) continue;
    alpha[i] = opacity;
    if (ink === -1) ink = pixel >>> 8;
    else if (ink !== pixel >>> 8) plain = false;
  }
  const mask = revision.addStream(image(width, height, 8, DEVICE[1], FLATE), deflateSync(alpha, FAST));
  if (plain) {
    const pixel = Uint8Array.of((ink >> 16) & 0xff, (ink >> 8) & 0xff, ink & 0xff);
    return revision.addStream(image(1, 1, 8, DEVICE[3], { SMask: mask }), pixel);
  }
  const rgb = new Uint8Array(count * 3);
  for (let i = 0, to = 0; i < count * 4; i += 4) {
    rgb[to++] = rgba[i] ?? 0;
    rgb[to++] = rgba[i + 1] ?? 0;
    rgb[to++] = rgba[i + 2] ?? 0;
  }
  const header = image(width, height, 8, DEVICE[3], { ...FLATE, SMask: mask });
  return revision.addStream(header, deflateSync(rgb, FAST));
}

// Ink on nothing compresses well at any level.
const FAST = { level: 1 };
const FLATE = { Filter: name("FlateDecode") };

/** From the unit square of the image as stored to that of the picture as displayed, by Exif orientation. */
const ORIENTATIONS: Record<number, Matrix> = {
  2: [-1, 0, 0, 1, 1, 0],
  3: [-1, 0, 0, -1, 1, 1],
  4: [1, 0, 0, -1, 0, 1],
  5: [0, -1, -1, 0, 1, 1],
  6: [0, -1, 1, 0, 0, 1],
  7: [0, 1, 1, 0, 0, 0],
  8: [0, 1, -1, 0, 1, 0],
};

/** The data goes into the PDF as it is. */
function jpegPicture(bytes: Uint8Array): Picture {
  const { width, height, components, adobe, orientation } = readJpeg(bytes);
  const header = image(width, height, 8, DEVICE[components], { Filter: name("DCTDecode") });
  if (components === 4 && adobe) header.set("Decode", [1, 0, 1, 0, 1, 0, 1, 0]);
  const embed = (revision: Revision): PdfRef => revision.addStream(new PdfDict(header.map), bytes);
  const size = orientation > 4 ? { width: height, height: width } : { width, height };
  return { ...size, turn: ORIENTATIONS[orientation] ?? UPRIGHT, embed };
}
