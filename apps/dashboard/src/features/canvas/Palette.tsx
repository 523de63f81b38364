import type { KeyboardEvent } from "react";
import { translator } from "../../../../shared/i18n.ts";
import { dragType } from "./CanvasView.tsx";
import { commandOf } from "./keys.ts";
import { useRoleName } from "./role-names.ts";
import { roleColor } from "./words.ts";

type Props<T extends string> = {
  types: readonly { type: T; name: string /** Belongs to nobody. */; fixed: boolean }[];
  roles: readonly string[];
  /** The role that new fields are for. */
  role: string;
  onRole: (role: string) => void;
  armed: T | null;
  /** @param atOnce by keyboard: in the middle of what is seen, instead of waiting for a press on the page */
  onPick: (type: T | null, atOnce: boolean) => void;
};

/** For whom, and what: chosen here, then placed by a press on the page, by drawing a box on it, or by dragging it there. */
export function Palette<T extends string>({ types, roles, role, onRole, armed, onPick }: Props<T>) {
  const t = translator("templates");
  const roleName = useRoleName();
  const keys = (event: KeyboardEvent) => {
    const command = commandOf(event);
    const wanted = command?.do === "role" ? roles[command.index] : undefined;
    if (wanted === undefined) return;
    event.preventDefault();
    onRole(wanted);
  };
  const armedName = types.find(({ type }) => type === armed)?.name;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the buttons in it
    <div className="palette-all" onKeyDown={keys}>
      {roles.length > 0 && (
        <fieldset className="palette-roles">
          <legend>{t("fields.for")}</legend>
          {roles.map((name, index) => (
            <label key={name} className="role-chip" data-color={roleColor(roles, name)}>
              <input
                type="radio"
                name="palette-role"
                value={name}
                checked={name === role}
                onChange={() => onRole(name)}
              />
              <span className="swatch" aria-hidden="true" />
              <span className="role-chip-name">{roleName(name)}</span>
              {index < 9 && <kbd>{index + 1}</kbd>}
            </label>
          ))}
        </fieldset>
      )}
      <fieldset className="palette" data-color={roles.length === 0 ? "none" : roleColor(roles, role)}>
        <legend>{t("fields.add")}</legend>
        {types.map(({ type, name, fixed }) => (
          <button
            key={type}
            type="button"
            className="palette-type"
            data-color={fixed ? "none" : undefined}
            aria-pressed={armed === type}
            disabled={roles.length === 0 && !fixed}
            draggable
            onDragStart={(event) => {
              event.dataTransfer.setData(dragType, type);
              event.dataTransfer.effectAllowed = "copy";
            }}
            // A press of a key has no place to point at.
            onClick={(event) => (event.detail === 0 ? onPick(type, true) : onPick(armed === type ? null : type, false))}
          >
            {name}
          </button>
        ))}
      </fieldset>
      <p className="hint palette-hint">
        {armedName === undefined ? t("fields.hint") : t("fields.armed", { type: armedName })}
      </p>
    </div>
  );
}
