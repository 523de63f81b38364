/** What a PDF must know of a JPEG picture (ITU-T T.81 §B.2) and how the camera was held (Exif 2.3 §4.6.4). */
import { PdfError } from "./objects.ts";

export type Jpeg = {
  width: number;
  height: number;
  components: 1 | 3 | 4;
  /** Written by Adobe's programs, which store CMYK inverted. */
  adobe: boolean;
  /** Exif orientation, 1 (as stored) to 8. */
  orientation: number;
};

/** ITU-T T.81 §B.1.1.3: 0xc0 to 0xc2 are what PDF can show, baseline, extended and progressive with Huffman codes. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
const LAST_SHOWN = 0xc2;
const END = 0xd9;
const SCAN = 0xda;

/**
 * Reads the markers up to the first scan.
 * @param accepted the picture was accepted by an earlier version: its frames may then be of any coding, and several
 * @throws PdfError `unsupported` for anything but a sound 8-bit JPEG
 */
export function readJpeg(bytes: Uint8Array, accepted: boolean): Jpeg {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = 2;
  let frame: Frame | null = null;
  let adobe = false;
  let orientation = 1;
  while (at + 4 <= data.length && data[at] === 0xff) {
    const marker = data[at + 1] ?? 0;
    if (marker === 0xff) {
      at++;
      continue;
    }
    const length = data.readUInt16BE(at + 2);
    if (length < 2 || at + 2 + length > data.length) break;
    const segment = data.subarray(at + 4, at + 2 + length);
    if (isFrame(marker)) {
      const read = frameIn(segment);
      if (!accepted && (marker > LAST_SHOWN || frame !== null || !read?.whole)) break;
      frame = read ?? frame;
    } else if (marker === 0xee && segment.toString("latin1", 0, 5) === "Adobe") adobe = true;
    else if (marker === 0xe1) orientation = orientationIn(segment) ?? orientation;
    else if (marker === END && !accepted) break;
    else if (marker === SCAN && (frame !== null || !accepted)) {
      if (frame === null) break;
      const { width, height, components } = frame;
      return { width, height, components, adobe, orientation };
    }
    at += 2 + length;
  }
  damaged();
}

function damaged(): never {
  throw new PdfError("unsupported", "the JPEG picture is damaged");
}

/** `whole`: each of its components is described. */
type Frame = Pick<Jpeg, "width" | "height" | "components"> & { whole: boolean };

function frameIn(segment: Buffer): Frame | null {
  if (segment.length < 6 || segment[0] !== 8) return null;
  const [height, width, components] = [segment.readUInt16BE(1), segment.readUInt16BE(3), segment[5]];
  if (width === 0 || height === 0 || (components !== 1 && components !== 3 && components !== 4)) return null;
  return { width, height, components, whole: segment.length >= 6 + 3 * components };
}

/** The orientation tag (0x0112) in the first directory of the TIFF structure; null when there is none. */
function orientationIn(segment: Buffer): number | null {
  if (segment.toString("latin1", 0, 6) !== "Exif\0\0" || segment.length < 16) return null;
  const tiff = segment.subarray(6);
  const little = tiff[0] === 0x49;
  const u16 = (at: number): number =>
    at + 2 > tiff.length ? 0 : little ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at);
  const directory = little ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  for (let i = 0, count = Math.min(u16(directory), 500); i < count; i++) {
    const entry = directory + 2 + 12 * i;
    const value = u16(entry + 8);
    if (u16(entry) === 0x0112) return value >= 1 && value <= 8 ? value : null;
  }
  return null;
}
