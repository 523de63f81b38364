import { listEnvelopes } from "../../../../../server/features/envelopes/contract.ts";
import { useEndpoint } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { useMode } from "../../mode.tsx";
import { useCan, useSession } from "../../session.tsx";
import { MailNotice } from "../shell/MailNotice.tsx";
import { WebhookNotice } from "../shell/WebhookNotice.tsx";
import { FirstSteps } from "./FirstSteps.tsx";
import { Overview } from "./Overview.tsx";
import "./welcome.css";

/** Where a person arrives: the next steps of an empty workspace, the state of affairs of one in use. */
export function WelcomePage() {
  const t = translator("templates");
  const { testMode } = useMode();
  const { user, organization } = useSession();
  const canRead = useCan("envelope:read");
  const any = useEndpoint(
    listEnvelopes,
    { query: { limit: "1", testMode: testMode ? "1" : "0" } },
    { enabled: canRead },
  );
  const used = (any.data?.data.length ?? 0) > 0;
  return (
    <div className="welcome">
      <PageHeader
        title={used ? t("welcome.overview") : t("welcome.title", { name: user.name })}
        description={used ? (organization?.name ?? "") : t("welcome.lead", { organization: organization?.name ?? "" })}
      />
      {!testMode && <MailNotice />}
      <WebhookNotice testMode={testMode} />
      {any.isError && <Failure error={any.error} />}
      {canRead && any.isPending && <Loading rows={4} height={90} />}
      {(!canRead || any.data) && (used ? <Overview testMode={testMode} /> : <FirstSteps />)}
    </div>
  );
}
