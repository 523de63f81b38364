import { type KeyboardEvent, memo, useEffect, useMemo, useRef } from "react";
import { translator } from "../../../../shared/i18n.ts";
import type { OpenPdf, PageSize } from "../../../../shared/pdf/document.ts";
import type { Items } from "./items.ts";
import { type Layout, layOut } from "./layout.ts";
import { useScroll } from "./useScroll.ts";

type Props = {
  pdf: OpenPdf | null;
  sizes: readonly PageSize[];
  items: Items;
  page: number;
  onPage: (page: number) => void;
  /** A page was pressed. */
  onChosen: () => void;
};

/** In CSS pixels. */
const [pictureWidth, railWidth, label] = [64, 80, 26];

/** Small pictures of all pages in a rail; on a small screen it lies over the pages. */
export const Thumbnails = memo(function Thumbnails({ items, ...props }: Props) {
  const counts = useMemo(() => {
    const found = new Map<number, number>();
    for (const item of items) found.set(item.page, (found.get(item.page) ?? 0) + 1);
    return found;
  }, [items]);
  return <Rail counts={counts} {...props} />;
});

type RailProps = Omit<Props, "items"> & { counts: ReadonlyMap<number, number> };

function Rail({ pdf, sizes, counts, page, onPage, onChosen }: RailProps) {
  const t = translator("templates");
  const view = useRef<HTMLElement>(null);
  const layout = useMemo(() => railLayout(sizes), [sizes]);
  const { near } = useScroll(view, layout);
  const draw = useMemo(() => createPictures(pdf), [pdf]);
  const focused = useRef(false);

  // The page that is looked at stays in sight, and keeps the focus when keys lead to it.
  useEffect(() => {
    const element = view.current;
    const top = layout.tops[page - 1] ?? 0;
    const bottom = layout.tops[page] ?? layout.height;
    if (!element) return;
    if (top < element.scrollTop) element.scrollTop = top - label;
    else if (bottom > element.scrollTop + element.clientHeight)
      element.scrollTop = bottom - element.clientHeight + label;
  }, [page, layout]);
  useEffect(() => {
    if (focused.current)
      view.current?.querySelector<HTMLElement>(`[data-thumbnail="${page}"]`)?.focus({ preventScroll: true });
  });

  const keys = (event: KeyboardEvent) => {
    const { key } = event;
    const to =
      key === "ArrowDown" || key === "ArrowRight"
        ? page + 1
        : key === "ArrowUp" || key === "ArrowLeft"
          ? page - 1
          : key === "Home"
            ? 1
            : key === "End"
              ? sizes.length
              : null;
    if (to === null) return;
    event.preventDefault();
    focused.current = true;
    onPage(Math.min(sizes.length, Math.max(1, to)));
  };
  const shown = sizes.slice(near[0] - 1, near[1]);
  if (!shown.some((size) => size.page === page)) shown.push(...sizes.slice(page - 1, page));
  return (
    <nav
      className="rail"
      id="canvas-thumbnails"
      ref={view}
      aria-label={t("canvas.thumbnails")}
      onKeyDown={keys}
      onBlur={() => {
        focused.current = false;
      }}
    >
      <ul style={{ height: layout.height }}>
        {shown.map((size) => (
          <li key={size.page} style={{ top: layout.tops[size.page - 1] }}>
            <button
              type="button"
              className="rail-page"
              tabIndex={size.page === page ? 0 : -1}
              data-thumbnail={size.page}
              aria-current={size.page === page ? "page" : undefined}
              onClick={() => {
                onPage(size.page);
                onChosen();
              }}
            >
              <Picture size={size} draw={draw} />
              <span className="spoken">
                {t("canvas.thumbnail", { page: size.page, count: counts.get(size.page) ?? 0 })}
              </span>
              <span className="rail-label" aria-hidden="true">
                {size.page}
                {counts.has(size.page) && <span className="rail-count">{counts.get(size.page)}</span>}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** One picture below the other, each with its label. */
function railLayout(sizes: readonly PageSize[]): Layout {
  const boxes = sizes.map((size) => ({
    ...size,
    height: (size.height / size.width) * pictureWidth + label,
    width: pictureWidth,
  }));
  return layOut(boxes, 1, railWidth);
}

type Draw = (page: number, scale: number, signal: AbortSignal) => Promise<HTMLCanvasElement | null>;

const Picture = memo(function Picture({ size, draw }: { size: PageSize; draw: Draw }) {
  const holder = useRef<HTMLSpanElement>(null);
  const { page, width, height } = size;
  const scale = pictureWidth / width;
  useEffect(() => {
    const stop = new AbortController();
    // Pages that are only scrolled past are not drawn.
    const timer = setTimeout(
      () =>
        draw(page, scale, stop.signal)
          .then((canvas) => canvas && !stop.signal.aborted && holder.current?.replaceChildren(canvas))
          .catch((error: unknown) => console.error(error)),
      200,
    );
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [draw, page, scale]);
  return <span className="rail-picture" ref={holder} style={{ width: pictureWidth, height: height * scale }} />;
});

/** Draws one picture at a time, and keeps it: the pages themselves come first. */
function createPictures(pdf: OpenPdf | null): Draw {
  const kept = new Map<number, HTMLCanvasElement>();
  let queue: Promise<unknown> = Promise.resolve();
  return (page, scale, signal) => {
    const known = kept.get(page);
    if (known || !pdf) return Promise.resolve(known ?? null);
    const drawn = queue.then(async () => {
      if (signal.aborted) return null;
      const canvas = document.createElement("canvas");
      await pdf.draw({ page, scale, canvas, signal });
      if (signal.aborted) return null;
      kept.set(page, canvas);
      return canvas;
    });
    queue = drawn.catch(() => null);
    return drawn;
  };
}
