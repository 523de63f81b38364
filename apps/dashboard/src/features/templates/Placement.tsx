import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from "react";
import type { OverlayItem } from "../../../../../server/features/templates/contract.ts";
import { translator } from "../../../../shared/i18n.ts";
import type { PageSize } from "../../../../shared/pdf/document.ts";
import { inside, type Place, roleOf } from "./model.ts";
import { describePlace, roleColor } from "./words.ts";

export type PlacementProps = {
  items: readonly OverlayItem[];
  roles: readonly string[];
  selected: string | null;
  /** The item that takes the focus when it appears. */
  fresh: string | null;
  /** A click on the page places something. */
  armed: boolean;
  readOnly: boolean;
  /** The page shows its fixed items already, as part of the document. */
  rendered: boolean;
  onSelect: (id: string | null) => void;
  onPlace: (at: Place) => void;
  /** @param kind moves of one kind in a row are undone together */
  onMove: (id: string, box: Pick<OverlayItem, "x" | "y" | "width" | "height">, kind: string | null) => void;
  onRemove: (id: string) => void;
};

/** The items of one page, lying on it: dragged with mouse or finger, moved and resized with the arrow keys. */
export function Placement({
  page,
  scale,
  size,
  ...props
}: PlacementProps & { page: number; scale: number; size: PageSize | undefined }) {
  const t = translator("templates");
  const { items, armed } = props;
  return (
    <div className="placement">
      {items
        .filter((item) => item.page === page)
        .map((item) => (
          <ItemBox key={item.id} item={item} scale={scale} size={size} {...props} />
        ))}
      {armed && (
        <button
          type="button"
          className="placement-target"
          aria-label={t("fields.placeHere", { page })}
          tabIndex={-1}
          onClick={(event) => {
            const { left, top } = event.currentTarget.getBoundingClientRect();
            props.onPlace({ page, x: (event.clientX - left) / scale, y: (event.clientY - top) / scale });
          }}
        />
      )}
    </div>
  );
}

type Drag = { pointer: number; x: number; y: number; resize: boolean; moved: boolean };
type BoxProps = PlacementProps & { item: OverlayItem; scale: number; size: PageSize | undefined };

function ItemBox(props: BoxProps) {
  const { item, scale, size, roles, selected, fresh, readOnly, rendered, onSelect, onMove, onRemove } = props;
  const t = translator("templates");
  const box = useRef<HTMLButtonElement>(null);
  const drag = useRef<Drag | null>(null);
  const [live, setLive] = useState<OverlayItem | null>(null);
  const isFresh = fresh === item.id;
  useEffect(() => {
    if (isFresh) box.current?.focus();
  }, [isFresh]);
  const shown = live ?? item;
  const role = roleOf(item);
  const isSelected = selected === item.id;

  const dragged = (event: PointerEvent, { x, y, resize }: Drag): OverlayItem => {
    const [dx, dy] = [(event.clientX - x) / scale, (event.clientY - y) / scale];
    return resize
      ? inside({ ...item, width: Math.max(8, item.width + dx), height: Math.max(8, item.height + dy) }, size)
      : inside({ ...item, x: item.x + dx, y: item.y + dy }, size);
  };
  const down = (event: PointerEvent<HTMLButtonElement>) => {
    if (readOnly || event.button !== 0) return;
    const resize = event.target instanceof Element && event.target.closest("[data-handle]") !== null;
    drag.current = { pointer: event.pointerId, x: event.clientX, y: event.clientY, resize, moved: false };
    event.currentTarget.setPointerCapture(event.pointerId);
    onSelect(item.id);
  };
  const move = (event: PointerEvent) => {
    const now = drag.current;
    if (!now || now.pointer !== event.pointerId) return;
    // A finger is never quite still.
    if (!now.moved && Math.hypot(event.clientX - now.x, event.clientY - now.y) < 3) return;
    now.moved = true;
    setLive(dragged(event, now));
  };
  const up = (event: PointerEvent) => {
    const now = drag.current;
    drag.current = null;
    setLive(null);
    if (now?.moved && event.type === "pointerup") onMove(item.id, dragged(event, now), null);
  };
  const key = (event: KeyboardEvent) => {
    if (readOnly) return;
    if (event.key === "Delete" || event.key === "Backspace") {
      event.preventDefault();
      onRemove(item.id);
      return;
    }
    const direction = directions[event.key];
    if (!direction) return;
    event.preventDefault();
    const step = event.shiftKey ? 10 : 1;
    const [dx, dy] = [direction[0] * step, direction[1] * step];
    const resize = event.ctrlKey || event.metaKey || event.altKey;
    const next = resize
      ? inside({ ...item, width: Math.max(4, item.width + dx), height: Math.max(4, item.height + dy) }, size)
      : inside({ ...item, x: item.x + dx, y: item.y + dy }, size);
    onMove(item.id, next, `${resize ? "resize" : "move"} ${item.id}`);
  };

  return (
    <button
      type="button"
      ref={box}
      className="placed"
      data-item={item.id}
      data-type={item.type}
      data-selected={isSelected || undefined}
      data-color={role === null ? "none" : roleColor(roles, role)}
      data-rendered={(rendered && role === null) || undefined}
      aria-pressed={isSelected}
      aria-describedby={readOnly ? undefined : "placement-help"}
      style={{
        left: shown.x * scale,
        top: shown.y * scale,
        width: shown.width * scale,
        height: shown.height * scale,
        fontSize: Math.max(7, Math.min(13, shown.height * scale * 0.5)),
      }}
      onPointerDown={down}
      onPointerMove={move}
      onPointerUp={up}
      onPointerCancel={up}
      onKeyDown={key}
      onFocus={() => onSelect(item.id)}
      onClick={() => onSelect(item.id)}
    >
      <span className="placed-label">
        <span>{"text" in item ? item.text : ("label" in item && item.label) || t(`type.${item.type}`)}</span>{" "}
        {role !== null && <small>{role}</small>}{" "}
      </span>
      <span className="spoken">{describePlace(t, shown)}</span>
      {isSelected && !readOnly && <span className="placed-handle" data-handle="" aria-hidden="true" />}
    </button>
  );
}

const directions: Record<string, readonly [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};
