/** Hands bytes to the browser as a download. */
export function saveFile(bytes: Uint8Array<ArrayBuffer>, filename: string): void {
  const url = URL.createObjectURL(new Blob([bytes], { type: "application/pdf" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = filename;
  link.click();
  // The download has taken the bytes over once the click's task is done.
  window.setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
