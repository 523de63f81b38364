import { Fragment } from "react";
import { translator } from "../../../../shared/i18n.ts";
import { Dialog } from "../../../../shared/ui/kit/Dialog.tsx";

const groups = [
  ["choose", ["step", "more", "all", "clear"]],
  ["place", ["move", "moveFar", "resize", "ratio", "fromCentre", "unsnapped"]],
  ["change", ["remove", "duplicate", "clipboard", "undo", "redo", "roles"]],
  [
    "arrange",
    ["left", "centre", "right", "top", "middle", "bottom", "horizontally", "vertically", "width", "height", "size"],
  ],
  ["view", ["zoomIn", "zoomOut", "fitWidth", "help"]],
] as const;

/** Which keys do what on the pages. */
export function Shortcuts({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const t = translator("templates");
  return (
    <Dialog opened={opened} onClose={onClose} title={t("canvas.keys.title")} size="lg" centered>
      {groups.map(([group, names]) => (
        <section key={group} className="canvas-shortcuts">
          <h3>{t(`canvas.keys.${group}`)}</h3>
          <dl>
            {names.map((name) => (
              <Fragment key={name}>
                <dt>
                  <kbd>{t(`canvas.combo.${name}`)}</kbd>
                </dt>
                <dd>{t(`canvas.key.${name}`)}</dd>
              </Fragment>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  );
}
