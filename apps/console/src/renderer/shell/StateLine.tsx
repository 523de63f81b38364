import { translator } from "../../../../shared/i18n.ts";
import { StatusBadge, type Tone } from "../../../../shared/ui/kit/StatusBadge.tsx";
import type { Connection, ConnectionState } from "../../shared/native.ts";

const t = translator("console");

export const tones: Readonly<Record<ConnectionState, Tone>> = {
  running: "good",
  starting: "busy",
  stopped: "waiting",
  "not-allowed": "bad",
  broken: "bad",
};

/** How the appliance is, in a word; always in sight. */
export function StateLine({ connection, failed }: { connection: Connection | undefined; failed: boolean }) {
  return (
    <div className="state-line" role="status">
      {failed ? (
        <StatusBadge tone="bad">{t("state.failed")}</StatusBadge>
      ) : connection ? (
        <StatusBadge tone={tones[connection.state]}>{t(`state.${connection.state}`)}</StatusBadge>
      ) : (
        <StatusBadge tone="neutral">{t("state.looking")}</StatusBadge>
      )}
      {connection?.remote && <span>{t("remote")}</span>}
      {connection && <code>{connection.socket}</code>}
    </div>
  );
}
