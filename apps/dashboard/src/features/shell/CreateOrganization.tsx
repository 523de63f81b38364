import { translator } from "../../../../shared/i18n.ts";
import { Dialog } from "../../../../shared/ui/kit/Dialog.tsx";
import { CreateOrganizationForm } from "./CreateOrganizationForm.tsx";

const t = translator("shell");

/** A new organization, in a dialog. */
export function CreateOrganization({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Dialog opened={opened} onClose={onClose} title={t("organization.create")} centered>
      <CreateOrganizationForm onCancel={onClose} onDone={onClose} />
    </Dialog>
  );
}
