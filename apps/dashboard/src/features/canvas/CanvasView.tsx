import { type ReactNode, type RefObject, useEffect, useRef } from "react";
import { translator } from "../../../../shared/i18n.ts";
import type { OpenPdf } from "../../../../shared/pdf/document.ts";
import type { Calls, Seen } from "./gesture.ts";
import { type Gestures, listenToGestures } from "./gestures.ts";
import { byPage, type Items } from "./items.ts";
import { type Layout, originOf } from "./layout.ts";
import { PageView } from "./PageView.tsx";

type Props = {
  view: RefObject<HTMLDivElement | null>;
  gestures: RefObject<Gestures | null>;
  layout: Layout;
  near: readonly [number, number];
  pdf: OpenPdf | null;
  items: Items;
  roles: readonly string[];
  selected: readonly string[];
  armed: string | null;
  readOnly: boolean;
  rendered: boolean;
  wrong: ReadonlySet<string>;
  layer: ((page: number, scale: number) => ReactNode) | undefined;
  seen: () => Seen & { armed: boolean; readOnly: boolean };
  calls: Calls;
  /** An item took the focus, by Tab for example. */
  onFocus: (id: string) => void;
  /** A palette's button was dropped. */
  onDrop: (type: string, at: { clientX: number; clientY: number }) => void;
};

/** What a palette's button carries when it is dragged. */
export const dragType = "application/x-signet-field";
const none: Items = [];

/** The pages, below each other in a window of their own: only those that are near what is seen exist. */
export function CanvasView(props: Props) {
  const { view, gestures, layout, near, pdf, items, roles, selected, readOnly, rendered, armed } = props;
  const t = translator("templates");
  const latest = useRef(props);
  latest.current = props;
  const pages = useRef<ReadonlyMap<number, Items>>(new Map());
  pages.current = byPage(items, pages.current);

  useEffect(() => {
    if (!view.current) return;
    const { calls } = latest.current;
    const listening = listenToGestures({
      view: view.current,
      seen: () => latest.current.seen(),
      calls: {
        select: (ids) => latest.current.calls.select(ids),
        moved: (...about) => latest.current.calls.moved(...about),
        resized: (...about) => latest.current.calls.resized(...about),
        place: (...about) => latest.current.calls.place(...about),
      } satisfies typeof calls,
    });
    gestures.current = listening;
    return () => {
      listening.stop();
      gestures.current = null;
    };
  }, [view, gestures]);

  // The page of what was chosen last stays, wherever else is scrolled to: the focus is on it, and so is what is dragged.
  const held = items.find(({ id }) => id === selected.at(-1))?.page;
  const shown = Array.from({ length: near[1] - near[0] + 1 }, (_, index) => near[0] + index);
  if (held !== undefined && !shown.includes(held) && held <= layout.sizes.length) shown.push(held);
  shown.sort((a, b) => a - b);

  return (
    <section
      className="canvas-view"
      ref={view}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and its keys act on what is chosen in it
      tabIndex={0}
      aria-label={t("canvas.pages")}
      aria-describedby={readOnly ? undefined : "placement-help"}
      data-armed={armed ?? undefined}
      onFocus={(event) => {
        const id = event.target.dataset.item;
        if (id !== undefined && !gestures.current?.active()) props.onFocus(id);
      }}
      onDragOver={(event) => {
        if (!readOnly && event.dataTransfer.types.includes(dragType)) event.preventDefault();
      }}
      onDrop={(event) => {
        const type = event.dataTransfer.getData(dragType);
        if (readOnly || type === "") return;
        event.preventDefault();
        props.onDrop(type, event);
      }}
    >
      <div className="canvas-content" style={{ width: layout.width, height: layout.height }}>
        {shown.map((page) => {
          const size = layout.sizes[page - 1];
          if (!size) return null;
          const { x, y } = originOf(layout, page);
          return (
            <PageView
              key={page}
              page={page}
              of={layout.sizes.length}
              left={x}
              top={y}
              width={size.width * layout.scale}
              height={size.height * layout.scale}
              scale={layout.scale}
              pdf={pdf}
              items={pages.current.get(page) ?? none}
              roles={roles}
              selected={selected}
              readOnly={readOnly}
              rendered={rendered}
              wrong={props.wrong}
              layer={props.layer}
            />
          );
        })}
        <div className="canvas-guide" data-mark="x" hidden />
        <div className="canvas-guide" data-mark="y" hidden />
        <div className="canvas-box" data-mark="box" hidden />
      </div>
    </section>
  );
}
