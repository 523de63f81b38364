import {
  type KeyboardEvent,
  type ReactNode,
  type Ref,
  useCallback,
  useEffect,
  useImperativeHandle,
  useMemo,
  useRef,
  useState,
} from "react";
import { translator } from "../../../../shared/i18n.ts";
import { type Actions, actionsOn, type Stage } from "./actions.ts";
import type { Point, Size } from "./boxes.ts";
import { CanvasView } from "./CanvasView.tsx";
import { CopyToPages } from "./CopyToPages.tsx";
import type { Gestures } from "./gestures.ts";
import { type Items, withBoxes } from "./items.ts";
import { type Command, commandOf } from "./keys.ts";
import { onPage } from "./layout.ts";
import { middleOf } from "./middle.ts";
import { createPrinted } from "./printed.ts";
import { Shortcuts } from "./Shortcuts.tsx";
import { Thumbnails } from "./Thumbnails.tsx";
import { Toolbar } from "./Toolbar.tsx";
import { useAnnouncer } from "./useAnnouncer.ts";
import { useClipboard } from "./useClipboard.ts";
import type { Pages } from "./usePages.ts";
import { useReveal } from "./useReveal.ts";
import { useScroll } from "./useScroll.ts";
import { useWindowKeys } from "./useWindowKeys.ts";
import { useZoom } from "./useZoom.ts";
import { sayMoved, sayResized, subject } from "./words.ts";
import "./canvas.css";

/** Where something is placed: its middle, in points, and its size when a box was drawn. */
export type PlaceAt = { page: number; size?: Size } & Point;

export type CanvasHandle = {
  /** Places something in the middle of what is seen. */
  place: (type: string) => void;
  duplicate: () => void;
  remove: () => void;
};

type Props = {
  ref?: Ref<CanvasHandle>;
  pages: Pages;
  items: Items;
  /** Names, in the order of their colours. */
  roles: readonly string[];
  /** The role that new fields are for. */
  role: string;
  onRole: (role: string) => void;
  selected: readonly string[];
  onSelect: (ids: readonly string[]) => void;
  /** What a press on a page places. */
  armed: string | null;
  onDisarm: () => void;
  readOnly: boolean;
  /** The pages show their fixed items already, as part of the document. */
  rendered: boolean;
  /** Items that something is wrong with; they are marked. */
  wrong?: ReadonlySet<string>;
  /** What else lies on a page, over everything; `scale` is CSS pixels a point. The same function while it shows the same. */
  layer?: (page: number, scale: number) => ReactNode;
  /** @param kind changes of one kind that follow each other are undone together */
  onChange: (items: Items, kind: string | null) => void;
  /** @returns the id of the new item; null when there can be none */
  onPlace: (type: string, at: PlaceAt) => string | null;
};

/** The pages of a document with what is placed on them: looked at, moved, sized and lined up, by mouse, finger and keys. */
export function Canvas({ ref, ...props }: Props) {
  const { pages, items, roles, role, onSelect, armed, readOnly } = props;
  const { pdf, sizes, ask } = pages;
  const t = translator("templates");
  const [said, announce] = useAnnouncer();
  const [dialog, setDialog] = useState<"help" | "copy" | null>(null);
  const [rail, setRail] = useState(hasRoom);
  const view = useRef<HTMLDivElement>(null);
  const gestures = useRef<Gestures | null>(null);
  const zooming = useZoom(view, sizes);
  const { layout } = zooming;
  const { page, near, goTo } = useScroll(view, layout);
  useEffect(() => ask(near[0], near[1]), [ask, near]);

  // What was undone or removed elsewhere is not chosen any more.
  const selected = useMemo(() => {
    const present = new Set(items.map(({ id }) => id));
    return props.selected.every((id) => present.has(id))
      ? props.selected
      : props.selected.filter((id) => present.has(id));
  }, [items, props.selected]);

  const sizeOf = (number: number) => sizes[number - 1];
  const { select, show } = useReveal({
    view,
    layout,
    items,
    selected,
    onSelect,
    onShown: (item) => announce(t("canvas.placed", { what: subject(t, [item]), page: item.page })),
  });
  const stage = useRef<Stage>(null);
  stage.current = {
    items,
    selected,
    roles,
    role,
    page,
    pages: sizes.length,
    sizeOf,
    select,
    change: props.onChange,
    announce,
    show,
  };
  const actions = useMemo(
    () =>
      actionsOn(() => {
        if (!stage.current) throw new Error("The canvas is not shown.");
        return stage.current;
      }),
    [],
  );
  const printed = useMemo(() => createPrinted(pdf, (number) => stage.current?.sizeOf(number)), [pdf]);

  const place = (type: string, at: PlaceAt) => {
    const id = props.onPlace(type, at);
    if (id === null) return announce(t("canvas.tooMany"));
    select([id]);
    show(id, "placed");
  };
  useImperativeHandle(ref, () => ({
    place(type) {
      const {
        scrollLeft: left = 0,
        scrollTop: top = 0,
        clientWidth: width = 0,
        clientHeight: height = 0,
      } = view.current ?? {};
      place(type, middleOf(layout, { left, top, width, height }, items));
    },
    duplicate: actions.duplicate,
    remove: actions.remove,
  }));

  const keys = (event: KeyboardEvent<HTMLElement>) => {
    const { target } = event;
    if (event.defaultPrevented || !(target instanceof HTMLElement) || target.closest("input, textarea, select")) return;
    const onPages = view.current?.contains(target) ?? false;
    const command = commandOf(event);
    if (!command || (!onPages && command.do !== "zoom" && command.do !== "help")) return;
    if (run(command)) event.preventDefault();
  };
  const run = (command: Command): boolean => {
    if (command.do === "zoom") {
      if (command.to === "width") zooming.fit("width");
      else zooming.step(command.to === "in" ? 1 : -1);
      return true;
    }
    if (command.do === "help") {
      setDialog("help");
      return true;
    }
    return perform(command, { actions, count: selected.length, readOnly, roles, onRole: props.onRole });
  };
  // On a small screen they lie over the page that was chosen.
  const closeRail = useCallback(() => setRail(hasRoom()), []);
  useWindowKeys({
    view,
    zooming,
    escape: () => {
      if (gestures.current?.active()) gestures.current.cancel();
      else if (armed !== null) props.onDisarm();
      else if (selected.length > 0) {
        select([]);
        if (view.current?.contains(document.activeElement)) view.current.focus({ preventScroll: true });
      } else return false;
      return true;
    },
  });
  useClipboard({ view, actions, readOnly });

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the parts in it, wherever the focus is
    <div className="canvas" onKeyDown={keys}>
      <Toolbar
        page={page}
        pages={sizes.length}
        zooming={zooming}
        rail={rail}
        onRail={() => setRail(!rail)}
        onPage={goTo}
        roles={roles}
        selected={selected.length}
        actions={readOnly ? null : actions}
        onHelp={() => setDialog("help")}
        onCopy={() => setDialog("copy")}
      />
      <div className="canvas-body">
        {rail && <Thumbnails pdf={pdf} sizes={sizes} items={items} page={page} onPage={goTo} onChosen={closeRail} />}
        <CanvasView
          view={view}
          gestures={gestures}
          layout={layout}
          near={near}
          pdf={pdf}
          items={items}
          roles={roles}
          selected={selected}
          armed={armed}
          readOnly={readOnly}
          rendered={props.rendered}
          wrong={props.wrong ?? nothing}
          layer={props.layer}
          seen={() => ({ layout, items, selected, linesOf: printed.linesOf, sizeOf, armed: armed !== null, readOnly })}
          calls={{
            select,
            moved(moved, snapped) {
              props.onChange(withBoxes(items, moved), null);
              announce(sayMoved(t, moved, snapped));
            },
            resized(item, snapped) {
              props.onChange(withBoxes(items, [item]), null);
              announce(sayResized(t, item, snapped));
            },
            place: (at) => armed !== null && place(armed, at),
          }}
          onFocus={(id) => {
            if (!selected.includes(id)) select([id]);
          }}
          onDrop={(type, { clientX, clientY }) => {
            const { left = 0, top = 0 } = view.current?.getBoundingClientRect() ?? {};
            const { scrollLeft = 0, scrollTop = 0 } = view.current ?? {};
            place(type, onPage(layout, { x: clientX - left + scrollLeft, y: clientY - top + scrollTop }));
          }}
        />
      </div>
      <p className="spoken" role="status" data-said="">
        {said}
      </p>
      {!readOnly && (
        <p className="spoken" id="placement-help">
          {t("canvas.help")}
        </p>
      )}
      <Shortcuts opened={dialog === "help"} onClose={() => setDialog(null)} />
      {dialog === "copy" && (
        <CopyToPages
          pages={sizes.length}
          count={selected.length}
          onCopy={actions.copyToPages}
          onClose={() => setDialog(null)}
        />
      )}
    </div>
  );
}

const nothing: ReadonlySet<string> = new Set();

/** Whether thumbnails fit beside the pages. */
const hasRoom = () => window.matchMedia("(min-width: 62.01rem)").matches;

type About = {
  actions: Actions;
  count: number;
  readOnly: boolean;
  roles: readonly string[];
  onRole: (role: string) => void;
};

/** @returns whether the keys are used up by it */
function perform(command: Command, { actions, count, readOnly, roles, onRole }: About): boolean {
  if (command.do === "step") return actions.step(command.by);
  if (command.do === "all") actions.selectAll();
  else if (readOnly) return false;
  else if (command.do === "role") {
    const role = roles[command.index];
    if (role === undefined) return false;
    onRole(role);
  } else if (count === 0) return false;
  else if (command.do === "move") actions.move(command.x, command.y);
  else if (command.do === "resize") actions.resize(command.x, command.y);
  else if (command.do === "align") actions.align(command.how);
  else if (command.do === "distribute") actions.distribute(command.how);
  else if (command.do === "equal") actions.equal(command.what);
  else if (command.do === "duplicate") actions.duplicate();
  else if (command.do === "remove") actions.remove();
  return true;
}
