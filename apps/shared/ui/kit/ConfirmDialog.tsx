import { Button, Group } from "@mantine/core";
import { translator } from "../../i18n.ts";
import type { ConfirmOptions } from "./Confirm.tsx";
import { Dialog } from "./Dialog.tsx";

const t = translator("common");

type Props = { options: ConfirmOptions; opened: boolean; onClose: (agreed: boolean) => void };

/** The question of `useConfirm`. What cannot be undone is not what Enter does. */
export function ConfirmDialog({ options, opened, onClose }: Props) {
  const { title, text, confirm, cancel, danger = false } = options;
  return (
    <Dialog opened={opened} onClose={() => onClose(false)} title={title} centered>
      <div className="confirm-text">{text}</div>
      <Group justify="flex-end" mt="lg">
        <Button variant="default" onClick={() => onClose(false)} data-autofocus={danger || undefined}>
          {cancel ?? t("cancel")}
        </Button>
        <Button
          {...(danger ? { color: "brick" } : {})}
          onClick={() => onClose(true)}
          data-autofocus={!danger || undefined}
        >
          {confirm}
        </Button>
      </Group>
    </Dialog>
  );
}
