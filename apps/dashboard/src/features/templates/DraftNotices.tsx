import { Button } from "@mantine/core";
import type { Warning } from "../../../../../server/features/templates/contract.ts";
import { ProblemResponse } from "../../../../shared/api/client.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import type { SaveStatus } from "./draft-store.ts";
import { useEditing } from "./editing.ts";
import { type Explained, explain } from "./explain.ts";
import type { Draft } from "./model.ts";
import { problemText } from "./problem-text.ts";
import { useShowPlace } from "./useShowPlace.ts";
import { Warnings } from "./Warnings.tsx";
import { placeName } from "./words.ts";

type Props = {
  status: SaveStatus;
  /** Why the draft could not be kept. */
  error: unknown;
  /** Why it could not be published, as it was then. */
  refused: { error: unknown; draft: Draft } | null;
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
          {errorsOf(error) === null ? (
            <Failure error={error} />
          ) : (
            <Mistakes
              title={t("draft.failed")}
              error={error}
              problems={explain(errorsOf(error) ?? [], draft)}
              onSelect={props.onSelect}
            />
          )}
          <Button size="compact-sm" variant="default" mb="sm" onClick={props.onRetry}>
            {translator("common")("retry")}
          </Button>
        </>
      )}
      {refused !== null && <Refused refused={refused} draft={draft} onSelect={props.onSelect} />}
      <Warnings warnings={warnings} />
    </>
  );
}

function errorsOf(error: unknown) {
  const errors = error instanceof ProblemResponse ? (error.problem.errors ?? []) : [];
  return errors.length === 0 ? null : errors;
}

/** What keeps the draft from being published now: each mistake goes from the list as it is put right. */
function Refused({
  refused,
  draft,
  onSelect,
}: Pick<Props, "draft" | "onSelect"> & { refused: NonNullable<Props["refused"]> }) {
  const { problems } = useEditing();
  const errors = errorsOf(refused.error);
  if (errors === null) return <Failure error={refused.error} />;
  const known = new Set(problems.map(keyOf));
  // What only the service finds stays until something is changed.
  const further = draft === refused.draft ? explain(errors, draft).filter((one) => !known.has(keyOf(one))) : [];
  const all = [...problems, ...further];
  if (all.length === 0) return null;
  const title = translator("templates")("publish.refused");
  return <Mistakes title={title} error={refused.error} problems={all} onSelect={onSelect} />;
}

const keyOf = ({ place, member, code }: Explained) =>
  [place.kind, place.kind === "item" ? place.item.id : "name" in place ? place.name : "", member, code].join(" ");

type MistakesProps = { title: string; error: unknown; problems: readonly Explained[]; onSelect: (id: string) => void };

/** Each mistake with what it is about; a press leads there. */
function Mistakes({ title, error, problems, onSelect }: MistakesProps) {
  const t = translator("templates");
  const show = useShowPlace(onSelect);
  return (
    <div className="notice bad" role="alert">
      <strong>{title}</strong>
      <ul className="plain-list">
        {problems.map((problem) => {
          const name = placeName(t, problem);
          return (
            <li key={`${keyOf(problem)} ${problem.detail}`}>
              <button type="button" className="plain" onClick={() => show(problem.place)}>
                {name}
              </button>
              : {problemText(problem.detail)}
            </li>
          );
        })}
      </ul>
      {error instanceof ProblemResponse && (
        <small>
          {translator("common")("requestId")}: <code>{error.problem.requestId}</code>
        </small>
      )}
    </div>
  );
}
