/** PNG (RFC 2083) and JPEG pictures as image XObjects (ISO 32000-1 §8.9.5), passed through undecoded where possible. */
import { deflateSync } from "node:zlib";
import type { PictureSize } from "../protocol.ts";
import { readJpeg } from "./jpeg.ts";
import { dict, name, PdfDict, PdfError, type PdfObject, type PdfRef, PdfString } from "./objects.ts";
import { filteredRows, type Png, pixelsOf, readPng, requireKnownFilters, unfiltered } from "./png.ts";
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

export type Reading = {
  /** It was accepted by an earlier version, and is read as that one did, so that it is still drawn. */
  accepted?: boolean;
  /** Above it nothing is inflated; stored pictures have none but `MAX_PIXELS`. */
  limit?: PictureSize;
};

const MAX_PIXELS = 40_000_000;

/**
 * Reads a picture's header and checks its data; a JPEG's is not decoded.
 * @throws PdfError `unsupported` for anything but a sound PNG or JPEG, `too-complex` for one of too many pixels
 */
export function readPicture(bytes: Uint8Array, { accepted = false, limit }: Reading = {}): Picture {
  if (bytes[0] === 0x89 && bytes[1] === 0x50) return pngPicture(bytes, accepted, limit);
  if (bytes[0] === 0xff && bytes[1] === 0xd8) return jpegPicture(bytes, accepted, limit);
  throw new PdfError("unsupported", "the picture is neither PNG nor JPEG");
}

function requireWithin({ width, height }: PictureSize, limit: PictureSize | undefined): void {
  if (limit && (width > limit.width || height > limit.height)) {
    throw new PdfError("too-complex", "the picture has too many pixels");
  }
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

function pngPicture(bytes: Uint8Array, accepted: boolean, limit: PictureSize | undefined): Picture {
  const png = readPng(bytes, accepted);
  const { width, height } = png;
  if (width * height > MAX_PIXELS) throw new PdfError("too-complex", "the picture has too many pixels");
  requireWithin(png, limit);
  const opaque = (png.colorType === 0 || png.colorType === 2 || png.colorType === 3) && !png.transparency;
  const asItIs = opaque && !png.interlaced;
  const rows = filteredRows(png, accepted);
  if (!accepted || !asItIs) requireKnownFilters(png, rows);
  const embed = asItIs
    ? (revision: Revision) => embedData(revision, png)
    : // Inflated once more: of several pictures only one is in memory.
      (revision: Revision) => {
        const pixels = pixelsOf(png, unfiltered(png, filteredRows(png, accepted)));
        return embedPixels(revision, width, height, pixels);
      };
  return { width, height, turn: UPRIGHT, embed };
}

function embedData(revision: Revision, { width, height, bits, colorType, palette, data }: Png): PdfRef {
  const colors = colorType === 2 ? 3 : 1;
  const space = palette
    ? [name("Indexed"), DEVICE[3], palette.length / 3 - 1, new PdfString(palette, true)]
    : DEVICE[colors];
  const parms = dict({ Predictor: 15, Colors: colors, BitsPerComponent: bits, Columns: width });
  return revision.addStream(
    image(width, height, bits, space, { Filter: name("FlateDecode"), DecodeParms: parms }),
    data,
  );
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
function jpegPicture(bytes: Uint8Array, accepted: boolean, limit: PictureSize | undefined): Picture {
  const jpeg = readJpeg(bytes, accepted);
  requireWithin(jpeg, limit);
  const { width, height, components, adobe, orientation } = jpeg;
  const header = image(width, height, 8, DEVICE[components], { Filter: name("DCTDecode") });
  if (components === 4 && adobe) header.set("Decode", [1, 0, 1, 0, 1, 0, 1, 0]);
  const embed = (revision: Revision): PdfRef => revision.addStream(new PdfDict(header.map), bytes);
  const size = orientation > 4 ? { width: height, height: width } : { width, height };
  return { ...size, turn: ORIENTATIONS[orientation] ?? UPRIGHT, embed };
}
