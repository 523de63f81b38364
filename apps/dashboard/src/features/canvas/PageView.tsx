import { type CSSProperties, memo, type ReactNode, useEffect, useRef, useState } from "react";
import { translator } from "../../../../shared/i18n.ts";
import type { OpenPdf } from "../../../../shared/pdf/document.ts";
import { ItemBox } from "./ItemBox.tsx";
import type { Items } from "./items.ts";

type Props = {
  page: number;
  of: number;
  left: number;
  top: number;
  width: number;
  height: number;
  scale: number;
  pdf: OpenPdf | null;
  items: Items;
  roles: readonly string[];
  selected: readonly string[];
  readOnly: boolean;
  rendered: boolean;
  wrong: ReadonlySet<string>;
  layer: ((page: number, scale: number) => ReactNode) | undefined;
};

/** While a person scrolls or zooms, nothing is drawn that is gone before it is seen. */
const [firstPause, nextPause] = [30, 150];

/** One page of the document with what lies on it. */
export const PageView = memo(function PageView(props: Props) {
  const { page, of, left, top, width, height, scale, pdf, items, roles, selected, readOnly, rendered, wrong, layer } =
    props;
  const t = translator("common");
  const picture = useRef<HTMLDivElement>(null);
  const text = useRef<HTMLDivElement>(null);
  const [drawn, setDrawn] = useState(false);
  const pause = drawn ? nextPause : firstPause;
  const wait = useRef(pause);
  wait.current = pause;
  useEffect(() => {
    if (!pdf) return;
    const stop = new AbortController();
    const draw = async () => {
      const [holder, layer] = [picture.current, text.current];
      if (!holder || !layer) return;
      // The previous picture stays, stretched, until this one is ready.
      const canvas = document.createElement("canvas");
      await pdf.draw({ page, scale, canvas, text: layer, signal: stop.signal });
      if (stop.signal.aborted) return;
      holder.replaceChildren(canvas);
      setDrawn(true);
    };
    const timer = setTimeout(() => draw().catch((error: unknown) => console.error(error)), wait.current);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [pdf, page, scale]);
  const style: CSSProperties & { "--scale": number } = { left, top, width, height, "--scale": scale };
  return (
    <section
      className="pdf-page"
      data-page={page}
      data-drawn={drawn || undefined}
      aria-label={t("page", { page, pages: of })}
      style={style}
    >
      {/* The text layer speaks for the picture. */}
      <div aria-hidden="true" ref={picture} />
      <div className="pdf-text" ref={text} />
      <div className="placement">
        {items.map((item) => {
          const isSelected = selected.includes(item.id);
          return (
            <ItemBox
              key={item.id}
              item={item}
              roles={roles}
              selected={isSelected}
              held={isSelected && selected.length === 1 && !readOnly}
              readOnly={readOnly}
              rendered={rendered}
              wrong={wrong.has(item.id)}
            />
          );
        })}
      </div>
      {layer?.(page, scale)}
    </section>
  );
});
