import { type KeyboardEvent, type PointerEvent, useRef, useState } from "react";
import type { Box, OverlayItem } from "../../../../../../server/features/templates/contract.ts";
import { translator } from "../../../../../shared/i18n.ts";
import type { PageSize } from "../../../../../shared/pdf/document.ts";
import { useEditing } from "../editing.ts";
import { changeItem, inside, radioWith } from "../model.ts";

type Radio = Extract<OverlayItem, { type: "radio" }>;
type Props = {
  item: Radio;
  page: number;
  /** CSS pixels a point. */
  scale: number;
  size: PageSize | undefined;
  /** The choice is selected: each box can be dragged, and moved with the arrow keys. */
  active: boolean;
};

/** The boxes of a choice's options on one page. */
export function OptionBoxes({ item, page, scale, size, active }: Props) {
  const { edit } = useEditing();
  const move = (index: number, { x, y }: { x: number; y: number }, kind: string | null) =>
    edit((draft) => {
      const options = item.options.map((option, at) =>
        at === index && option.box ? { ...option, box: inside({ ...option.box, x, y }, size) } : option,
      );
      return changeItem(draft, item.id, radioWith(options));
    }, kind);
  return item.options.map(({ value, label, box }, index) =>
    box?.page === page ? (
      <OptionBox
        // biome-ignore lint/suspicious/noArrayIndexKey: an option has no other name than the one that is being edited
        key={index}
        box={box}
        name={label ?? value}
        scale={scale}
        active={active}
        onMove={(to, kind) => move(index, to, kind && `${kind} ${item.id} ${index}`)}
      />
    ) : null,
  );
}

type Drag = { pointer: number; x: number; y: number; moved: boolean };
type BoxProps = {
  box: Box;
  name: string;
  scale: number;
  active: boolean;
  onMove: (to: { x: number; y: number }, kind: string | null) => void;
};

function OptionBox({ box, name, scale, active, onMove }: BoxProps) {
  const drag = useRef<Drag | null>(null);
  const [live, setLive] = useState<{ x: number; y: number } | null>(null);
  const { x, y } = live ?? box;
  const style = { left: x * scale, top: y * scale, width: box.width * scale, height: box.height * scale };
  if (!active) return <span className="option-box-shown" style={style} aria-hidden="true" />;
  const to = (event: PointerEvent, from: Drag) => ({
    x: box.x + (event.clientX - from.x) / scale,
    y: box.y + (event.clientY - from.y) / scale,
  });
  const up = (event: PointerEvent) => {
    const now = drag.current;
    drag.current = null;
    setLive(null);
    if (now?.moved && event.type === "pointerup") onMove(to(event, now), null);
  };
  const key = (event: KeyboardEvent) => {
    const direction = directions[event.key];
    if (!direction) return;
    event.preventDefault();
    const step = event.shiftKey ? 10 : 1;
    onMove({ x: box.x + direction[0] * step, y: box.y + direction[1] * step }, "option");
  };
  return (
    <button
      type="button"
      className="option-box-shown"
      data-own-pointer=""
      style={style}
      aria-label={translator("templates")("props.optionPlaced", { value: name })}
      title={name}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        drag.current = { pointer: event.pointerId, x: event.clientX, y: event.clientY, moved: false };
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        const now = drag.current;
        if (now?.pointer !== event.pointerId) return;
        now.moved ||= Math.hypot(event.clientX - now.x, event.clientY - now.y) >= 3;
        if (now.moved) setLive(to(event, now));
      }}
      onPointerUp={up}
      onPointerCancel={up}
      onKeyDown={key}
    />
  );
}

const directions: Record<string, readonly [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};
