import { Modal } from "@mantine/core";
import { translator } from "../../../../shared/i18n.ts";
import { CreateOrganizationForm } from "./CreateOrganizationForm.tsx";

const t = translator("shell");
const common = translator("common");

/** A new organization, in a dialog. */
export function CreateOrganization({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={t("organization.create")}
      centered
      closeButtonProps={{ "aria-label": common("close") }}
    >
      <CreateOrganizationForm onCancel={onClose} onDone={onClose} />
    </Modal>
  );
}
