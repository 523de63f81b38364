/** Pieces shorter than this are copied to those around them. */
const crumb = 16 * 1024;
const blockLength = 64 * 1024;

/**
 * Holds what arrives in pieces until it is whole. A piece costs some two hundred bytes beside what it holds, and whoever sends
 * chooses how short pieces are: crumbs are joined as they come, so that content takes the memory of its length.
 */
export class Gathering {
  readonly #pieces: Uint8Array[] = [];
  /** Made with the second piece, since most of what comes is one. */
  #block: Buffer | undefined;
  #used = 0;
  #size = 0;

  /** Bytes so far. */
  get size(): number {
    return this.#size;
  }

  add(piece: Uint8Array): void {
    const first = this.#size === 0;
    this.#size += piece.length;
    if (first || piece.length >= crumb) {
      this.#flush();
      this.#pieces.push(piece);
      return;
    }
    if (this.#used + piece.length > blockLength) this.#flush();
    this.#block ??= Buffer.allocUnsafeSlow(blockLength);
    this.#block.set(piece, this.#used);
    this.#used += piece.length;
  }

  whole(): Buffer {
    this.#flush();
    return Buffer.concat(this.#pieces, this.#size);
  }

  /** A copy of its own length: long pieces between crumbs must not leave blocks that are nearly empty. */
  #flush(): void {
    if (this.#block === undefined || this.#used === 0) return;
    this.#pieces.push(Buffer.from(this.#block.subarray(0, this.#used)));
    this.#used = 0;
  }
}
