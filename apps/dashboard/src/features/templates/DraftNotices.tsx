import { Button } from "@mantine/core";
import type { Warning } from "../../../../../server/features/templates/contract.ts";
import { ProblemResponse } from "../../../../shared/api/client.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import type { SaveStatus } from "./draft-store.ts";
import { explain } from "./explain.ts";
import type { Draft } from "./model.ts";
import { Warnings } from "./Warnings.tsx";
import { placeName } from "./words.ts";

type Props = {
  status: SaveStatus;
  /** Why the draft could not be kept. */
  error: unknown;
  /** Why it could not be published. */
  refused: unknown;
  draft: Draft;
  warnings: readonly Warning[];
  onRetry: () => void;
  onSelect: (id: string) => void;
};

/** What stands in the way, a failed save or the mistakes that publishing found, and what is to be known of the document. */
export function DraftNotices(props: Props) {
  const { status, error, refused, draft, warnings } = props;
  const t = translator("templates");
  return (
    <>
      {status === "failed" && (
        <>
          <Mistakes title={t("draft.failed")} error={error} draft={draft} onSelect={props.onSelect} />
          <Button size="compact-sm" variant="default" mb="sm" onClick={props.onRetry}>
            {translator("common")("retry")}
          </Button>
        </>
      )}
      {refused !== null && (
        <Mistakes title={t("publish.refused")} error={refused} draft={draft} onSelect={props.onSelect} />
      )}
      <Warnings warnings={warnings} />
    </>
  );
}

type MistakesProps = { title: string; error: unknown; draft: Draft; onSelect: (id: string) => void };

/** Each of the service's errors with what it is about; a press leads to the field. */
function Mistakes({ title, error, draft, onSelect }: MistakesProps) {
  const t = translator("templates");
  const errors = error instanceof ProblemResponse ? (error.problem.errors ?? []) : [];
  if (!(error instanceof ProblemResponse) || errors.length === 0) return <Failure error={error} />;
  return (
    <div className="notice bad" role="alert">
      <strong>{title}</strong>
      <ul className="plain-list">
        {explain(errors, draft).map((explained) => {
          const { place, detail } = explained;
          const name = placeName(t, explained);
          return (
            <li key={`${name} ${detail}`}>
              {place.kind === "item" ? (
                <button type="button" className="plain" onClick={() => onSelect(place.item.id)}>
                  {name}
                </button>
              ) : (
                <b>{name}</b>
              )}
              : {detail}
            </li>
          );
        })}
      </ul>
      <small>
        {translator("common")("requestId")}: <code>{error.problem.requestId}</code>
      </small>
    </div>
  );
}
