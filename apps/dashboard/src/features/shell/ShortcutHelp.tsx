import { Switch } from "@mantine/core";
import { Fragment } from "react";
import { translator } from "../../../../shared/i18n.ts";
import { Dialog } from "../../../../shared/ui/kit/Dialog.tsx";
import { enableShortcuts, useShortcutsEnabled } from "./shortcuts.ts";

const t = translator("shell");

/** Which keys do what, and whether they do. */
export function ShortcutHelp({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const enabled = useShortcutsEnabled();
  const rows = [
    [["?"], t("shortcuts.help")],
    [["/"], t("shortcuts.search")],
    [["N"], t("shortcuts.send")],
    [["G", "H"], t("nav.home")],
    [["G", "E"], t("nav.envelopes")],
    [["G", "T"], t("nav.templates")],
    [["G", "S"], t("nav.settings")],
  ] as const;
  return (
    <Dialog opened={opened} onClose={onClose} title={t("shortcuts.title")} centered>
      <dl className="shortcuts">
        {rows.map(([keys, words]) => (
          <Fragment key={words}>
            <dt>
              {keys.map((name) => (
                <kbd key={name}>{name}</kbd>
              ))}
            </dt>
            <dd>{words}</dd>
          </Fragment>
        ))}
      </dl>
      <Switch
        label={t("shortcuts.enabled")}
        checked={enabled}
        onChange={(event) => enableShortcuts(event.currentTarget.checked)}
        mt="lg"
      />
    </Dialog>
  );
}
