import { Button } from "@mantine/core";
import {
  listStuckWork,
  retryAllWork,
  retryWork,
  type StuckWork,
} from "../../../../../server/features/appliance/work-contract.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Check } from "../../../../shared/ui/icons.tsx";
import { Empty } from "../../../../shared/ui/kit/Empty.tsx";
import { notify } from "../../../../shared/ui/kit/notify.tsx";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { StatusBadge } from "../../../../shared/ui/kit/StatusBadge.tsx";
import { When } from "../../../../shared/ui/kit/When.tsx";
import { Failure } from "../Failure.tsx";
import { Loaded } from "../Loaded.tsx";
import { useLocal, useLocalAct } from "../local.ts";
import { Said } from "../Said.tsx";

const t = translator("console");
/** How often it is asked for anew, in milliseconds. */
const everyMs = 10_000;

/** Work that failed for good or fails again and again, with its cause and a way to try it again. */
export function WorkPage() {
  const work = useLocal(listStuckWork, {}, { refetchInterval: everyMs });
  const all = useLocalAct(retryAllWork, {
    changes: [listStuckWork],
    onDone: ({ retried, left }) =>
      notify({ message: `${t("work.retried", { count: retried })} ${t("work.left", { count: left })}` }),
  });
  const some = work.data?.data.some(({ finalBecause }) => finalBecause === null);
  return (
    <>
      <PageHeader
        title={t("work.nav")}
        description={t("work.description")}
        actions={
          some && (
            <Button loading={all.isPending} onClick={() => all.mutate({})}>
              {t("work.retryAll")}
            </Button>
          )
        }
      />
      {all.isError && <Failure error={all.error} />}
      <Loaded query={work}>
        {({ data, total }) =>
          data.length === 0 ? (
            <Empty icon={<Check size={32} />} title={t("work.empty")} text={t("work.emptyText")} />
          ) : (
            <>
              <table className="list-table">
                <thead>
                  <tr>
                    <th scope="col">{t("work.what")}</th>
                    <th scope="col">{t("work.cause")}</th>
                    <th scope="col">{t("work.attempts")}</th>
                    <th scope="col">{t("actions")}</th>
                  </tr>
                </thead>
                <tbody>
                  {data.map((one) => (
                    <WorkRow key={one.id} work={one} />
                  ))}
                </tbody>
              </table>
              {total > data.length && <p className="soft">{t("work.more", { count: total - data.length })}</p>}
            </>
          )
        }
      </Loaded>
    </>
  );
}

function WorkRow({ work }: { work: StuckWork }) {
  const { id, name, state, organization, envelope, recipient, attempts, since, nextAttemptAt } = work;
  const { cause, causeCode, finalBecause, finalCode } = work;
  const retry = useLocalAct(retryWork, {
    changes: [listStuckWork],
    onDone: () => notify({ message: t("work.retried", { count: 1 }) }),
  });
  return (
    <tr>
      <th scope="row">
        {name}
        <small>{[organization?.name, envelope?.title, recipient].filter(Boolean).join(" · ")}</small>
      </th>
      <td data-label={t("work.cause")}>
        {causeCode === null ? <Said>{cause}</Said> : t(`work.causes.${causeCode}`)}
        {finalCode !== null && <small>{t(`work.ends.${finalCode}`)}</small>}
        {retry.isError && <Failure error={retry.error} />}
      </td>
      <td data-label={t("work.attempts")}>
        <StatusBadge tone={state === "failed" ? "bad" : "waiting"}>{t(`work.state.${state}`)}</StatusBadge>
        <small>
          {t("work.tries", { count: attempts })} <When at={since} />
        </small>
        {nextAttemptAt !== null && (
          <small>
            {t("work.next")} <When at={nextAttemptAt} />
          </small>
        )}
      </td>
      <td data-label={t("actions")}>
        <Button
          size="compact-sm"
          variant="default"
          disabled={finalBecause !== null}
          loading={retry.isPending}
          onClick={() => retry.mutate({ params: { id } })}
        >
          {t("work.retry")}
          <span className="spoken"> {name}</span>
        </Button>
      </td>
    </tr>
  );
}
