/** 256 KB, as the contract says. */
const mostBytes = 256 * 1024;

/** A PNG or JPEG as the template keeps it, with its size in pixels; else why it cannot be used. */
export async function pictureFrom(
  file: File,
): Promise<{ data: string; width: number; height: number } | "tooLarge" | "notPicture"> {
  if (file.size > mostBytes) return "tooLarge";
  const bytes = new Uint8Array(await file.arrayBuffer());
  const type = typeOf(bytes);
  if (type === null) return "notPicture";
  try {
    const { width, height } = await createImageBitmap(new Blob([bytes], { type }));
    let binary = "";
    for (const byte of bytes) binary += String.fromCharCode(byte);
    return { data: `data:${type};base64,${btoa(binary)}`, width, height };
  } catch {
    return "notPicture";
  }
}

/** The first bytes decide, whatever the file is called. */
function typeOf([first, second, third, fourth]: Uint8Array): "image/png" | "image/jpeg" | null {
  if (first === 0x89 && second === 0x50 && third === 0x4e && fourth === 0x47) return "image/png";
  return first === 0xff && second === 0xd8 && third === 0xff ? "image/jpeg" : null;
}
