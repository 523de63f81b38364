import { memo, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { translator } from "../i18n.ts";
import type { OpenPdf, PageSize } from "./document.ts";
import "./pdf.css";

type Props = {
  /** The document; null while it is on its way. */
  bytes: Uint8Array | null;
  /** Sizes in points, known before the document: nothing moves when it arrives. Pages it has beyond them follow. */
  pages: readonly PageSize[];
  zoom?: number;
  /** What lies on a page; `scale` is CSS pixels a point. */
  overlay?: (page: number, scale: number) => ReactNode;
  /** Told how wide the frame is, in CSS pixels: `scaleOf` needs it. */
  onWidth?: (width: number) => void;
  /** Told the sizes of all pages once the document is open. */
  onPages?: (pages: readonly PageSize[]) => void;
  onFailure?: (error: unknown) => void;
};

/** CSS pixels a point that read well: a little more than the size on paper. */
const comfortable = 1.4;

/** CSS pixels a point that a page is shown with: it fits the frame, and is never larger than reads well, before zooming. */
export function scaleOf(page: PageSize, width: number, zoom: number): number {
  return Math.min(comfortable, width / page.width) * zoom;
}

/** All pages of a document below each other; only those near the window are drawn. */
export function PdfPages({ bytes, pages: known, zoom = 1, overlay, onWidth, onPages, onFailure }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const available = useWidth(frame);
  const document = usePdf(bytes, known.length, onFailure);
  const pages = document ? [...known, ...document.further] : known;
  useEffect(() => onWidth?.(available), [onWidth, available]);
  const latest = useRef(known);
  latest.current = known;
  useEffect(() => {
    if (document) onPages?.([...latest.current, ...document.further]);
  }, [onPages, document]);
  return (
    <div className="pdf" ref={frame}>
      {available > 0 &&
        pages.map((page) => (
          <Page
            key={page.page}
            size={page}
            of={pages.length}
            scale={scaleOf(page, available, zoom)}
            pdf={document?.pdf ?? null}
            overlay={overlay}
          />
        ))}
    </div>
  );
}

function useWidth(element: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const node = element.current;
    if (!node) return;
    setWidth(node.clientWidth);
    const observer = new ResizeObserver(() => setWidth(node.clientWidth));
    observer.observe(node);
    return () => observer.disconnect();
  }, [element]);
  return width;
}

function usePdf(bytes: Uint8Array | null, known: number, onFailure: Props["onFailure"]): Opened | null {
  const [shown, setShown] = useState<Opened | null>(null);
  const report = useRef(onFailure);
  report.current = onFailure;
  useEffect(() => {
    if (!bytes) return;
    let open: OpenPdf | null = null;
    let gone = false;
    opened(bytes.slice(), known)
      .then((document) => {
        open = document.pdf;
        if (gone) document.pdf.close();
        else setShown(document);
      })
      .catch((error: unknown) => {
        if (!gone) report.current?.(error);
      });
    return () => {
      gone = true;
      setShown(null);
      open?.close();
    };
  }, [bytes, known]);
  return shown;
}

type Opened = { pdf: OpenPdf; further: PageSize[] };

async function opened(bytes: Uint8Array, known: number): Promise<Opened> {
  const { openPdf } = await import("./document.ts");
  const pdf = await openPdf(bytes);
  const further: PageSize[] = [];
  for (let page = known + 1; page <= pdf.pageCount; page += 1) further.push(await pdf.sizeOf(page));
  return { pdf, further };
}

type PageProps = {
  size: PageSize;
  of: number;
  scale: number;
  pdf: OpenPdf | null;
  overlay: Props["overlay"];
};

/** Drawn anew only when its own size or drawing changes, not with every key that is typed into a field. */
const Page = memo(function Page({ size, of, scale, pdf, overlay }: PageProps) {
  const t = translator("common");
  const box = useRef<HTMLElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const text = useRef<HTMLDivElement>(null);
  const near = useNear(box);
  const [drawn, setDrawn] = useState(false);
  useEffect(() => {
    if (!pdf || !near || !canvas.current || !text.current) return;
    const stop = new AbortController();
    const picture = canvas.current;
    pdf
      .draw({ page: size.page, scale, canvas: picture, text: text.current, signal: stop.signal })
      .then(() => {
        if (!stop.signal.aborted) setDrawn(true);
      })
      .catch((error: unknown) => console.error(error));
    return () => stop.abort();
  }, [pdf, near, scale, size.page]);
  return (
    <section
      className="pdf-page"
      ref={box}
      data-page={size.page}
      data-drawn={drawn || undefined}
      aria-label={t("page", { page: size.page, pages: of })}
      style={{ width: size.width * scale, height: size.height * scale }}
    >
      {/* The text layer speaks for the picture. */}
      {near && (
        <div aria-hidden="true">
          <canvas ref={canvas} />
        </div>
      )}
      <div className="pdf-text" ref={text} />
      {overlay?.(size.page, scale)}
    </section>
  );
});

/** Whether the element is within a window's height of the window. */
function useNear(element: React.RefObject<HTMLElement | null>): boolean {
  const [near, setNear] = useState(false);
  useEffect(() => {
    if (!element.current) return;
    const observer = new IntersectionObserver((entries) => setNear(entries.at(-1)?.isIntersecting ?? false), {
      rootMargin: "100% 0px",
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return near;
}
