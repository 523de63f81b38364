import { Modal, Switch } from "@mantine/core";
import { Fragment } from "react";
import { translator } from "../../../../shared/i18n.ts";

const t = translator("shell");
const common = translator("common");

type Props = { opened: boolean; onClose: () => void; enabled: boolean; onEnabled: (enabled: boolean) => void };

/** Which keys do what, and whether they do. */
export function ShortcutHelp({ opened, onClose, enabled, onEnabled }: Props) {
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
    <Modal
      opened={opened}
      onClose={onClose}
      title={t("shortcuts.title")}
      centered
      closeButtonProps={{ "aria-label": common("close") }}
    >
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
        onChange={(event) => onEnabled(event.currentTarget.checked)}
        mt="lg"
      />
    </Modal>
  );
}
