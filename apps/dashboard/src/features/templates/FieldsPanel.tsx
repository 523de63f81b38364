import { memo } from "react";
import type { OverlayItem } from "../../../../../server/features/templates/contract.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Empty } from "../../../../shared/ui/kit/Empty.tsx";
import { type Items, inReadingOrder, roleOf } from "../canvas/items.ts";
import { Palette } from "../canvas/Palette.tsx";
import { useRoleName } from "../canvas/role-names.ts";
import { itemName, roleColor } from "../canvas/words.ts";
import { isFixed, type Placeable, placeable } from "./model.ts";

type Props = {
  items: Items;
  /** Names, in the order of their colours. */
  roles: readonly string[];
  readOnly: boolean;
  /** The role that new fields are for. */
  role: string;
  onRole: (role: string) => void;
  armed: Placeable | null;
  /** @param atOnce by keyboard: at a place that is in view, instead of waiting for a press on the page */
  onPick: (type: Placeable | null, atOnce: boolean) => void;
  selected: readonly string[];
  onSelect: (id: string) => void;
};

/** What can be placed for whom, and the list of what lies on the pages. */
export function FieldsPanel({ items, roles, readOnly, role, onRole, armed, onPick, selected, onSelect }: Props) {
  const t = translator("templates");
  return (
    <section aria-label={t("fields.title")} className="panel-section">
      {!readOnly && (
        <Palette
          types={placeable.map((type) => ({ type, name: t(`type.${type}`), fixed: isFixed(type) }))}
          roles={roles}
          role={role}
          onRole={onRole}
          armed={armed}
          onPick={onPick}
        />
      )}
      {items.length === 0 && <Empty title={t("fields.none")} text={readOnly ? undefined : t("fields.noneText")} />}
      <FieldLists items={items} roles={roles} selected={selected} onSelect={onSelect} />
    </section>
  );
}

type ListsProps = Pick<Props, "items" | "roles" | "selected" | "onSelect">;

const FieldLists = memo(function FieldLists({ items, roles, selected, onSelect }: ListsProps) {
  const t = translator("templates");
  const pages = new Map<number, OverlayItem[]>();
  for (const item of inReadingOrder(items)) pages.set(item.page, [...(pages.get(item.page) ?? []), item]);
  const chosen = new Set(selected);
  return (
    <div className="field-lists">
      {[...pages].map(([page, list]) => (
        <div key={page}>
          <h3 className="panel-heading">{t("fields.page", { page })}</h3>
          <ul className="field-list">
            {list.map((item) => (
              <FieldRow key={item.id} item={item} roles={roles} current={chosen.has(item.id)} onSelect={onSelect} />
            ))}
          </ul>
        </div>
      ))}
    </div>
  );
});

type RowProps = { item: OverlayItem; roles: readonly string[]; current: boolean; onSelect: (id: string) => void };

/** Not drawn anew with every step of another field. */
const FieldRow = memo(function FieldRow({ item, roles, current, onSelect }: RowProps) {
  const t = translator("templates");
  const roleName = useRoleName();
  const role = roleOf(item);
  return (
    <li>
      <button type="button" className="field-row" aria-current={current || undefined} onClick={() => onSelect(item.id)}>
        <span className="swatch" data-color={role === null ? "none" : roleColor(roles, role)} aria-hidden="true" />
        <span className="field-name">{itemName(t, item)}</span>
        {role !== null && <span className="soft">{roleName(role)}</span>}
      </button>
    </li>
  );
});
