import { useMediaQuery } from "@mantine/hooks";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import type { Envelope } from "../../../../../server/features/envelopes/contract.ts";
import { translator } from "../../../../shared/i18n.ts";
import { StatusBadge } from "../../../../shared/ui/kit/StatusBadge.tsx";
import { When } from "../../../../shared/ui/kit/When.tsx";
import { useSession } from "../../session.tsx";
import { isTaken, useShortcutsEnabled } from "../shell/shortcuts.ts";
import { isInProgress, listed, progressOf, stateOf, turnOf } from "./status.ts";

type Props = { envelopes: readonly Envelope[]; templates: ReadonlyMap<string, string> };

/** A table, or cards where a table has no room. Each row is one link. */
export function EnvelopeRows(props: Props) {
  const narrow = useMediaQuery("(max-width: 68em)", undefined, { getInitialValueInEffect: false });
  const list = useRef<HTMLDivElement>(null);
  useRowKeys(list);
  return (
    <div ref={list} className="envelopes-rows">
      {narrow ? <Cards {...props} /> : <Table {...props} />}
    </div>
  );
}

function Table({ envelopes, templates }: Props) {
  const t = translator("envelopes");
  const shortcuts = useShortcutsEnabled();
  return (
    <>
      <table className="envelopes-table">
        <thead>
          <tr>
            <th scope="col">{t("column.title")}</th>
            <th scope="col">{t("column.state")}</th>
            <th scope="col">{t("column.recipients")}</th>
            <th scope="col">{t("column.template")}</th>
            <th scope="col">{t("column.updated")}</th>
            <th scope="col">{t("column.deadline")}</th>
          </tr>
        </thead>
        <tbody>
          {envelopes.map((envelope) => (
            <tr key={envelope.id}>
              <th scope="row">
                <RowLink envelope={envelope} />
              </th>
              <td>
                <State envelope={envelope} />
              </td>
              <td dir="auto">{listed(peopleOf(envelope), 2)}</td>
              <td dir="auto">{templates.get(envelope.template) ?? <code>{envelope.template}</code>}</td>
              <td>
                <When at={envelope.updatedAt} />
                <small>
                  {t("created")} <When at={envelope.createdAt} />
                </small>
              </td>
              <td>
                <Deadline envelope={envelope} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {shortcuts && <p className="soft envelopes-keys">{t("keys")}</p>}
    </>
  );
}

function Cards({ envelopes, templates }: Props) {
  const t = translator("envelopes");
  return (
    <ul className="envelopes-cards">
      {envelopes.map((envelope) => (
        <li key={envelope.id}>
          <RowLink envelope={envelope} />
          <State envelope={envelope} />
          <p dir="auto">{listed(peopleOf(envelope), 2)}</p>
          <p className="soft">
            {templates.get(envelope.template) ?? envelope.template} · {t("updated")} <When at={envelope.updatedAt} />
          </p>
          {isInProgress(envelope) && envelope.expiresAt && (
            <p className="soft">
              {t("column.deadline")}: <Deadline envelope={envelope} />
            </p>
          )}
        </li>
      ))}
    </ul>
  );
}

const peopleOf = ({ recipients }: Envelope) => recipients.map(({ name }) => name);

function RowLink({ envelope }: { envelope: Envelope }) {
  return (
    <Link
      to="/envelopes/$id"
      params={{ id: envelope.id }}
      className="envelopes-row"
      data-row
      preload={false}
      dir="auto"
    >
      {envelope.title}
    </Link>
  );
}

function State({ envelope }: { envelope: Envelope }) {
  const { tone, label } = stateOf(envelope);
  const turn = turnOf(envelope);
  return (
    <div className="envelopes-state">
      <StatusBadge tone={tone}>{label}</StatusBadge>
      {turn && <small dir="auto">{turn}</small>}
      <small>{progressOf(envelope).text}</small>
    </div>
  );
}

function Deadline({ envelope }: { envelope: Envelope }) {
  const timeZone = useSession().organization?.timeZone;
  if (!envelope.expiresAt) return <span className="soft">{translator("envelopes")("noDeadline")}</span>;
  return <When at={envelope.expiresAt} {...(timeZone ? { timeZone } : {})} />;
}

const letters: Readonly<Record<string, number>> = { j: 1, k: -1 };
const arrows: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

/**
 * J and K move between rows from anywhere on the page, unless single keys are switched off; the arrows do once a row has the
 * focus; Enter is the link's own.
 */
function useRowKeys(list: React.RefObject<HTMLElement | null>): void {
  const shortcuts = useShortcutsEnabled();
  useEffect(() => {
    const move = (event: KeyboardEvent) => {
      const step = arrows[event.key] ?? (shortcuts ? letters[event.key] : undefined);
      if (step === undefined || isTaken(event)) return;
      const rows = [...(list.current?.querySelectorAll<HTMLElement>("[data-row]") ?? [])];
      const at = rows.findIndex((row) => row.matches(":focus"));
      if (at < 0 && event.key.startsWith("Arrow")) return;
      event.preventDefault();
      rows[at < 0 ? 0 : Math.min(Math.max(at + step, 0), rows.length - 1)]?.focus();
    };
    document.addEventListener("keydown", move);
    return () => document.removeEventListener("keydown", move);
  }, [list, shortcuts]);
}
