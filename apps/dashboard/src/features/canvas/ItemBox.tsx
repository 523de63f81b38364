import { type CSSProperties, memo } from "react";
import type { OverlayItem } from "../../../../../server/features/templates/contract.ts";
import { translator } from "../../../../shared/i18n.ts";
import { handles, placeStyle } from "./boxes.ts";
import { roleOf } from "./items.ts";
import { lookOf } from "./look.ts";
import { useRoleName } from "./role-names.ts";
import { describePlace, kindOf, roleColor } from "./words.ts";

type Props = {
  item: OverlayItem;
  roles: readonly string[];
  selected: boolean;
  /** It alone is chosen, and may be changed: it shows its handles. */
  held: boolean;
  readOnly: boolean;
  rendered: boolean;
  /** Something about it keeps the document from being used. */
  wrong: boolean;
};

/** One item on its page. What is done to it with mouse, finger or keys is the canvas's business. */
export const ItemBox = memo(function ItemBox({ item, roles, selected, held, readOnly, rendered, wrong }: Props) {
  const t = translator("templates");
  const role = roleOf(item);
  const roleName = useRoleName();
  // The type of React's styles does not know custom properties.
  const isConditional = "visibleWhen" in item && item.visibleWhen !== undefined;
  const style: CSSProperties & Record<`--${string}`, number> = {
    ...placeStyle(item),
    ...(rendered ? {} : lookOf(item)),
  };
  return (
    <button
      type="button"
      className="placed"
      tabIndex={-1}
      data-item={item.id}
      data-type={item.type}
      data-selected={selected || undefined}
      data-color={role === null ? "none" : roleColor(roles, role)}
      data-wrong={wrong || undefined}
      data-conditional={isConditional || undefined}
      data-rendered={(rendered && role === null) || undefined}
      aria-pressed={selected}
      aria-describedby={readOnly ? undefined : "placement-help"}
      style={style}
    >
      <span className="placed-label">
        <span>{item.type === "text" ? item.text : ("label" in item && item.label) || t(`type.${kindOf(item)}`)}</span>{" "}
        {role !== null && <small>{roleName(role)}</small>}{" "}
      </span>
      <span className="spoken">
        {describePlace(t, item)}
        {isConditional && ` ${t("conditions.mark")}.`}
        {wrong && ` ${t("publish.mark")}.`}
      </span>
      {held &&
        handles.map((handle) => (
          <span key={handle} className="placed-handle" data-handle={handle} aria-hidden="true" />
        ))}
    </button>
  );
});
