import { NativeSelect } from "@mantine/core";
import { getPreferences, updatePreferences } from "../../../../../server/features/organization/contract.ts";
import { useAct, useEndpoint } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";
import { notify } from "../../../../shared/ui/kit/notify.tsx";
import { useSession } from "../../session.tsx";
import { AccountSection } from "./AccountSection.tsx";

/** Stands for the first one that the person joined. */
const first = "";

/** For who belongs to several organizations: the one that each sign-in starts in. */
export function StartingOrganization() {
  const t = translator("settings");
  const several = useSession().organizations.length > 1;
  const preferences = useEndpoint(getPreferences, {}, { enabled: several });
  const save = useAct(updatePreferences, {
    changes: [getPreferences],
    onDone: () => notify({ message: t("account.start.saved") }),
  });
  if (!several) return null;
  return (
    <AccountSection title={t("account.start.title")} text={t("account.start.text")}>
      {preferences.isError && <Failure error={preferences.error} />}
      {save.isError && <Failure error={save.error} />}
      {preferences.data ? (
        <NativeSelect
          label={t("account.start.organization")}
          value={preferences.data.startingOrganization ?? first}
          disabled={save.isPending}
          data={[
            { value: first, label: t("account.start.first") },
            ...preferences.data.organizations.map(({ id, name }) => ({ value: id, label: name })),
          ]}
          onChange={({ currentTarget: { value } }) =>
            save.mutate({ body: { startingOrganization: value === first ? null : value } })
          }
        />
      ) : (
        preferences.isPending && <Loading rows={1} />
      )}
    </AccountSection>
  );
}
