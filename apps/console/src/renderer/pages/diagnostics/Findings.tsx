import type { Finding } from "../../../../../../server/features/health/contract.ts";
import { translator } from "../../../../../shared/i18n.ts";
import { StatusBadge } from "../../../../../shared/ui/kit/StatusBadge.tsx";
import { findingWords } from "../../finding-words.ts";
import { PageLink } from "../../PageLink.tsx";
import { Words } from "../../Said.tsx";

const t = translator("console");
const tones = { ok: "good", warning: "waiting", wrong: "bad" } as const;

type Props = {
  findings: readonly Finding[] /** Where no heading says what they are about. */;
  areas?: boolean;
};

/** What was found, each with what to do. */
export function Findings({ findings, areas = false }: Props) {
  return (
    <ul className="findings">
      {findings.map((finding) => (
        <Row key={finding.id} finding={finding} area={areas} />
      ))}
    </ul>
  );
}

/** Where one does something about it. */
const pageOf: Record<Finding["area"], string> = {
  service: "logs",
  settings: "settings",
  storage: "diagnostics",
  machine: "diagnostics",
  keys: "keys",
  network: "network",
  mail: "mail",
  work: "work",
  organizations: "organizations",
  backup: "backup",
};

function Row({ finding, area }: { finding: Finding; area: boolean }) {
  const { id, state } = finding;
  const { detail, action } = findingWords(finding);
  return (
    <li>
      <StatusBadge tone={tones[state]}>{t(`diagnostics.state.${state}`)}</StatusBadge>
      <div>
        {area && (
          <>
            <PageLink to={id === "anchors" ? "anchors" : pageOf[finding.area]}>
              {t(`diagnostics.area.${finding.area}`)}
            </PageLink>
            :{" "}
          </>
        )}
        <Words>{detail}</Words>
        <code className="finding-id">{id}</code>
        {action !== null && (
          <p className="soft">
            <Words>{action}</Words>
          </p>
        )}
      </div>
    </li>
  );
}
