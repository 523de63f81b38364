import { translator } from "../../../../shared/i18n.ts";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { useSession } from "../../session.tsx";
import { CreateOrganizationForm } from "./CreateOrganizationForm.tsx";
import { OrganizationChoice } from "./OrganizationChoice.tsx";
import { OwnInvitations } from "./OwnInvitations.tsx";

const t = translator("shell");

/** For a person who is in no organization: what that means and what to do. */
export function NoOrganization() {
  const { user, organizations, canCreateOrganization } = useSession();
  return (
    <div className="no-organization">
      <PageHeader title={t("none.title")} description={t("none.text", { email: user.email })} />
      <OwnInvitations />
      {organizations.length > 0 && <OrganizationChoice />}
      {canCreateOrganization ? (
        <section className="card">
          <h2>{t("none.createTitle")}</h2>
          <CreateOrganizationForm />
        </section>
      ) : (
        <section className="card">
          <h2>{t("none.askTitle")}</h2>
          <p>{t("none.ask", { email: user.email })}</p>
        </section>
      )}
    </div>
  );
}
