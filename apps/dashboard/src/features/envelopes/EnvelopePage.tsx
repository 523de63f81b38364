import { Button } from "@mantine/core";
import { Link, useParams } from "@tanstack/react-router";
import { getEnvelope } from "../../../../../server/features/envelopes/contract.ts";
import { ProblemResponse } from "../../../../shared/api/client.ts";
import { useEndpoint } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Empty } from "../../../../shared/ui/kit/Empty.tsx";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { useModeOf } from "../../mode.tsx";
import { EnvelopeView } from "./EnvelopeView.tsx";
import "./envelope.css";

/** One envelope: what it is at, its people, its record and its documents, as they change. */
export function EnvelopePage() {
  const { id } = useParams({ from: "/workspace/envelopes/$id" });
  const envelope = useEndpoint(getEnvelope, { params: { id } });
  const matches = useModeOf(id, envelope.data?.testMode, (testMode) =>
    translator("envelopes")(testMode ? "page.inTestMode" : "page.inLiveMode"),
  );
  if (envelope.data && !matches) return <Coming />;
  if (envelope.data) return <EnvelopeView key={id} envelope={envelope.data} failure={envelope.error} />;
  if (envelope.isError) return <Trouble error={envelope.error} onRetry={() => void envelope.refetch()} />;
  return <Coming />;
}

function Coming() {
  const t = translator("envelopes");
  return (
    <div className="envelope-coming">
      <p className="page-back">
        <Link to="/envelopes">← {t("page.back")}</Link>
      </p>
      <Loading rows={1} height={72} />
      <div className="envelope-columns">
        <Loading rows={3} height={150} />
        <Loading rows={1} height={420} />
      </div>
    </div>
  );
}

function Trouble({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const t = translator("envelopes");
  const back = { to: "/envelopes", label: t("page.back") } as const;
  // An id that cannot be one is refused before it is looked for.
  if (error instanceof ProblemResponse && error.problem.status === 404) {
    return (
      <>
        <PageHeader title={t("page.notFoundTitle")} back={back} />
        <Empty
          title={t("page.notFoundShort")}
          text={t("page.notFoundText")}
          action={
            <Button component={Link} to="/envelopes">
              {t("page.notFoundBack")}
            </Button>
          }
        />
      </>
    );
  }
  return (
    <>
      <PageHeader title={t("page.one")} back={back} />
      <Failure error={error} />
      <Button variant="default" onClick={onRetry}>
        {translator("common")("retry")}
      </Button>
    </>
  );
}
