import { NativeSelect } from "@mantine/core";
import {
  changeManagedOrganization,
  listManagedOrganizations,
  type ManagedOrganization,
  type ManagedOrganizationList,
  PlanName,
} from "../../../../../server/features/organization/managed-contract.ts";
import { dateTime, translator } from "../../../../shared/i18n.ts";
import { Empty } from "../../../../shared/ui/kit/Empty.tsx";
import { notify } from "../../../../shared/ui/kit/notify.tsx";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { bytes } from "../bytes.ts";
import { Failure } from "../Failure.tsx";
import { Loaded } from "../Loaded.tsx";
import { useLocal, useLocalAct } from "../local.ts";
import { CreateOrganization } from "./organizations/CreateOrganization.tsx";

const t = translator("console");

/** Every organization with its size and plan, and how to make another one. */
export function OrganizationsPage() {
  const organizations = useLocal(listManagedOrganizations, {});
  return (
    <>
      <PageHeader title={t("organizations.nav")} description={t("organizations.description")} />
      <Loaded query={organizations}>
        {({ data, defaultPlan }) => (
          <div className="sections">
            {data.length === 0 ? (
              <Empty title={t("organizations.empty")} text={t("organizations.emptyText")} />
            ) : (
              <table className="list-table">
                <thead>
                  <tr>
                    <th scope="col">{t("organizations.name")}</th>
                    <th scope="col">{t("organizations.members")}</th>
                    <th scope="col">{t("organizations.envelopes")}</th>
                    <th scope="col">{t("organizations.documents")}</th>
                    <th scope="col">{t("organizations.plan")}</th>
                  </tr>
                </thead>
                <tbody>
                  {data.map((one) => (
                    <OrganizationRow key={one.id} organization={one} defaultPlan={defaultPlan} />
                  ))}
                </tbody>
              </table>
            )}
            <section aria-labelledby="create-organization">
              <h2 id="create-organization">{t("organizations.createTitle")}</h2>
              <CreateOrganization />
            </section>
          </div>
        )}
      </Loaded>
    </>
  );
}

type RowProps = { organization: ManagedOrganization; defaultPlan: ManagedOrganizationList["defaultPlan"] };

function OrganizationRow({ organization, defaultPlan }: RowProps) {
  const { id, name, createdAt, members, owners, envelopes, testEnvelopes, documentBytes, ownPlan } = organization;
  const change = useLocalAct(changeManagedOrganization, {
    changes: [listManagedOrganizations],
    onDone: () => notify({ message: t("organizations.changed") }),
  });
  return (
    <tr>
      <th scope="row">
        {name}
        <small>
          {t("organizations.since")} <time dateTime={createdAt}>{dateTime(createdAt)}</time>
        </small>
        {change.isError && <Failure error={change.error} />}
      </th>
      <td data-label={t("organizations.members")}>
        {members}
        <small>{t("organizations.owners", { count: owners })}</small>
      </td>
      <td data-label={t("organizations.envelopes")}>
        {envelopes}
        {testEnvelopes > 0 && <small>{t("organizations.test", { count: testEnvelopes })}</small>}
      </td>
      <td data-label={t("organizations.documents")}>{bytes(documentBytes)}</td>
      <td data-label={t("organizations.plan")}>
        <NativeSelect
          aria-label={t("organizations.planOf", { name })}
          size="xs"
          disabled={change.isPending}
          value={ownPlan ?? ""}
          data={[
            { value: "", label: t("organizations.planDefault", { plan: t(`organizations.plans.${defaultPlan}`) }) },
            ...PlanName.options.map((plan) => ({ value: plan, label: t(`organizations.plans.${plan}`) })),
          ]}
          onChange={({ currentTarget: { value } }) => {
            const plan = PlanName.safeParse(value);
            change.mutate({ params: { id }, body: { plan: plan.success ? plan.data : null } });
          }}
        />
      </td>
    </tr>
  );
}
