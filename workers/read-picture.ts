/** Whether a picture that somebody sent can be drawn later: read whole here, because it is not looked at before that. */
import { PdfError } from "./pdf/objects.ts";
import { readPicture } from "./pdf/picture.ts";
import type { PictureCode, TaskResult, Tasks } from "./protocol.ts";

/** Reads a new picture as strictly as there is (`pdf/png.ts`, `pdf/jpeg.ts`); `limit` holds before anything is inflated. */
export function checkPicture({ picture, limit }: Tasks["readPicture"]["input"]): TaskResult<"readPicture"> {
  try {
    const { width, height } = readPicture(picture, { limit });
    return { ok: true, value: { width, height } };
  } catch (error) {
    if (!(error instanceof PdfError)) throw error;
    const code: PictureCode = error.code === "too-complex" ? "image-too-large" : "bad-image";
    return { ok: false, error: { code, message: error.message } };
  }
}
