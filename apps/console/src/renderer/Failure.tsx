import { ProblemResponse } from "../../../shared/api/client.ts";
import { translator } from "../../../shared/i18n.ts";
import { requestIdOf } from "../../../shared/ui/Failure.tsx";
import { Refused } from "./bridge.ts";
import { wordsOf } from "./finding-words.ts";
import { Said, Words } from "./Said.tsx";

const common = translator("common");

/** What went wrong: its kind in the language of the page, what the appliance said of it as it said it, and the request's id. */
export function Failure({ error }: { error: unknown }) {
  const requestId = requestIdOf(error);
  const problem = error instanceof ProblemResponse ? error.problem : null;
  const message = error instanceof Error ? error.message : String(error);
  return (
    <div className="notice bad" role="alert">
      <strong>
        {problem ? (
          <Words>{wordsOf("console", `problem.${problem.code}`, {}, problem.title)}</Words>
        ) : (
          common("problem")
        )}
      </strong>
      {/* What the console itself refuses it says in the language of the page. */}
      {error instanceof Refused ? message : <Said>{message}</Said>}
      {requestId && (
        <small>
          {common("requestId")}: <code>{requestId}</code>
        </small>
      )}
    </div>
  );
}
