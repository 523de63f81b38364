import { applySetup } from "../../../../../../server/features/appliance/setup-contract.ts";
import { translator } from "../../../../../shared/i18n.ts";
import { CopyField } from "../../../../../shared/ui/kit/CopyField.tsx";
import { useLocalAct } from "../../local.ts";
import { OwnerForm } from "../../OwnerForm.tsx";

const t = translator("console");

/** Names the first organization and its owner, who gets a one-time link to set a password. */
export function SetupOwner() {
  const apply = useLocalAct(applySetup);
  return (
    <OwnerForm
      submitLabel={t("setup.createOwner")}
      pending={apply.isPending}
      error={apply.error}
      onSubmit={(owner) =>
        apply.mutateAsync({ body: { owner } }).then(
          () => true,
          () => false,
        )
      }
    >
      {apply.data?.link && (
        <CopyField label={t("setup.link")} value={apply.data.link} description={t("setup.linkHint")} />
      )}
    </OwnerForm>
  );
}
