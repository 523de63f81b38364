import { Button, Group } from "@mantine/core";
import { translator } from "../../../../shared/i18n.ts";
import { Dialog } from "../../../../shared/ui/kit/Dialog.tsx";

type Props = {
  opened: boolean;
  /** Shows what the service has; the changes that were not saved are lost. */
  onReload: () => void;
  /** Saves these changes over the others. */
  onOverwrite: () => void;
};

/**
 * The draft was changed in another tab or by another person. Nothing can be edited until one of the two is chosen, so the dialog
 * has no way out but that.
 */
export function DraftConflict({ opened, onReload, onOverwrite }: Props) {
  const t = translator("templates");
  return (
    <Dialog opened={opened} busy onClose={() => {}} withCloseButton={false} title={t("conflict.title")}>
      {/* Not on a button: whoever is typing when the dialog opens must not choose by pressing Enter. */}
      <div className="confirm-text" tabIndex={-1} data-autofocus>
        {t("conflict.text")}
      </div>
      <Group justify="flex-end" mt="lg">
        <Button variant="default" onClick={onOverwrite}>
          {t("conflict.overwrite")}
        </Button>
        <Button onClick={onReload}>{t("conflict.reload")}</Button>
      </Group>
    </Dialog>
  );
}
