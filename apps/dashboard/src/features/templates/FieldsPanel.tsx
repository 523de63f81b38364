import { Button, NativeSelect } from "@mantine/core";
import { translator } from "../../../../shared/i18n.ts";
import { Empty } from "../../../../shared/ui/kit/Empty.tsx";
import { type Draft, inReadingOrder, type Placeable, placeable, roleOf } from "./model.ts";
import { itemName, roleColor } from "./words.ts";

type Props = {
  draft: Draft;
  readOnly: boolean;
  /** The role that new fields are for. */
  role: string;
  onRole: (role: string) => void;
  armed: Placeable | null;
  /** @param atOnce by keyboard: at a place that is in view, instead of waiting for a click on the page */
  onPick: (type: Placeable | null, atOnce: boolean) => void;
  selected: string | null;
  onSelect: (id: string) => void;
};

/** What can be placed for whom, and the list of what lies on the pages. */
export function FieldsPanel({ draft, readOnly, role, onRole, armed, onPick, selected, onSelect }: Props) {
  const t = translator("templates");
  const roles = draft.roles.map(({ name }) => name);
  const items = inReadingOrder(draft.items);
  const pages = [...new Set(items.map((item) => item.page))];
  return (
    <section aria-label={t("fields.title")} className="panel-section">
      {!readOnly && (
        <>
          <NativeSelect
            label={t("fields.for")}
            value={role}
            data={roles}
            onChange={(event) => onRole(event.currentTarget.value)}
            disabled={roles.length === 0}
          />
          <fieldset className="palette">
            <legend>{t("fields.add")}</legend>
            {placeable.map((type) => (
              <Button
                key={type}
                size="compact-sm"
                variant={armed === type ? "filled" : "default"}
                aria-pressed={armed === type}
                disabled={roles.length === 0 && type !== "text"}
                // A press of a key has no place to point at.
                onClick={(event) =>
                  event.detail === 0 ? onPick(type, true) : onPick(armed === type ? null : type, false)
                }
              >
                {t(`type.${type}`)}
              </Button>
            ))}
          </fieldset>
          <p className="hint" role="status">
            {armed ? t("fields.armed", { type: t(`type.${armed}`) }) : t("fields.hint")}
          </p>
          <p className="hint" id="placement-help">
            {t("fields.keys")}
          </p>
        </>
      )}
      {items.length === 0 && <Empty title={t("fields.none")} text={readOnly ? undefined : t("fields.noneText")} />}
      <div className="field-lists">
        {pages.map((page) => (
          <div key={page}>
            <h3 className="panel-heading">{t("fields.page", { page })}</h3>
            <ul className="field-list">
              {items
                .filter((item) => item.page === page)
                .map((item) => {
                  const itemRole = roleOf(item);
                  return (
                    <li key={item.id}>
                      <button
                        type="button"
                        className="field-row"
                        aria-current={selected === item.id || undefined}
                        onClick={() => onSelect(item.id)}
                      >
                        <span
                          className="swatch"
                          data-color={itemRole === null ? "none" : roleColor(roles, itemRole)}
                          aria-hidden="true"
                        />
                        <span className="field-name">{itemName(t, item)}</span>
                        {itemRole !== null && <span className="soft">{itemRole}</span>}
                      </button>
                    </li>
                  );
                })}
            </ul>
          </div>
        ))}
      </div>
    </section>
  );
}
