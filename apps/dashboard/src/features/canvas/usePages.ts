import { useCallback, useEffect, useRef, useState } from "react";
import type { OpenPdf, PageSize } from "../../../../shared/pdf/document.ts";

export type Pages = {
  /** null while the document is opened. */
  pdf: OpenPdf | null;
  /** Of all pages. Until a page was asked it is thought to be as large as the first one. */
  sizes: readonly PageSize[];
  failure: unknown;
  /** Has the sizes of these pages asked for before those of all others. */
  ask: (from: number, to: number) => void;
};

const none: readonly PageSize[] = [];
/** So many pages are asked at a time: what is to be drawn meanwhile gets its turn. */
const batch = 10;

/** Opens a document and learns the sizes of its pages: the first is there at once, however many follow. */
export function usePages(bytes: Uint8Array | null): Pages {
  const [open, setOpen] = useState<{ pdf: OpenPdf; known: Known } | null>(null);
  const [sizes, setSizes] = useState(none);
  const [failure, setFailure] = useState<unknown>(null);
  const latest = useRef(open);
  latest.current = open;
  useEffect(() => () => latest.current?.pdf.close(), []);

  useEffect(() => {
    if (!bytes) return;
    const stop = new AbortController();
    const begin = async () => {
      const { openPdf } = await import("../../../../shared/pdf/document.ts");
      const pdf = await openPdf(bytes.slice());
      const first = stop.signal.aborted ? null : await pdf.sizeOf(1);
      if (stop.signal.aborted || first === null) return pdf.close();
      const before = latest.current?.pdf;
      const known = knownSizes(pdf, first, setSizes, stop.signal);
      setSizes(known.all());
      setFailure(null);
      // The previous document is shown until this one is there.
      setOpen({ pdf, known });
      // By then nothing is drawn from it any more.
      if (before) setTimeout(() => before.close());
      await whenIdle();
      await known.learnAll();
    };
    begin().catch((error: unknown) => {
      if (!stop.signal.aborted) setFailure(error);
    });
    return () => stop.abort();
  }, [bytes]);

  const ask = useCallback((from: number, to: number) => void latest.current?.known.learn(from, to), []);
  return { pdf: open?.pdf ?? null, sizes, failure, ask };
}

type Known = ReturnType<typeof knownSizes>;

function knownSizes(pdf: OpenPdf, first: PageSize, tell: (sizes: readonly PageSize[]) => void, signal: AbortSignal) {
  let sizes: readonly PageSize[] = Array.from({ length: pdf.pageCount }, (_, index) => ({ ...first, page: index + 1 }));
  const asked = new Set([1]);
  const learn = async (from: number, to: number): Promise<void> => {
    const wanted = sizes.slice(from - 1, to).filter(({ page }) => !asked.has(page));
    for (const { page } of wanted) asked.add(page);
    const found = await Promise.all(wanted.map(({ page }) => pdf.sizeOf(page)));
    const changed = found.filter(({ page, width, height }) => {
      const before = sizes[page - 1];
      return before?.width !== width || before.height !== height;
    });
    if (changed.length === 0 || signal.aborted) return;
    const next = [...sizes];
    for (const size of changed) next[size.page - 1] = size;
    sizes = next;
    tell(sizes);
  };
  return {
    all: () => sizes,
    /** A page that cannot be opened keeps the size it is thought to have; drawing it says why. */
    learn: (from: number, to: number) => learn(from, to).catch((error: unknown) => console.error(error)),
    async learnAll() {
      for (let page = 1; page <= pdf.pageCount && !signal.aborted; page += batch) {
        await this.learn(page, page + batch - 1);
        await whenIdle();
      }
    },
  };
}

/** A moment without work, or a moment at all where the browser does not tell. */
const whenIdle = () =>
  new Promise<void>((resolve) => {
    if ("requestIdleCallback" in window) requestIdleCallback(() => resolve(), { timeout: 1000 });
    else setTimeout(resolve, 30);
  });
