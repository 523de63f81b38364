import {
  createManagedOrganization,
  listManagedOrganizations,
} from "../../../../../../server/features/organization/managed-contract.ts";
import { translator } from "../../../../../shared/i18n.ts";
import { CopyField } from "../../../../../shared/ui/kit/CopyField.tsx";
import { useLocalAct } from "../../local.ts";
import { OwnerForm } from "../../OwnerForm.tsx";

const t = translator("console");

/** Makes an organization for a person, and shows the link with which a new person sets a password. */
export function CreateOrganization() {
  const create = useLocalAct(createManagedOrganization, { changes: [listManagedOrganizations] });
  return (
    <OwnerForm
      submitLabel={t("organizations.create")}
      pending={create.isPending}
      error={create.error}
      onSubmit={({ organization: name, email }) =>
        create.mutateAsync({ body: { name, owner: { email } } }).then(
          () => true,
          () => false,
        )
      }
    >
      {create.isSuccess && (
        <div className="notice" role="status">
          <strong>{t("organizations.created")}</strong>
          {create.data.link === null ? (
            t("organizations.hasAccount")
          ) : (
            <CopyField
              label={t("organizations.link")}
              value={create.data.link}
              description={t("organizations.linkHint")}
            />
          )}
        </div>
      )}
    </OwnerForm>
  );
}
