import { Button, Group } from "@mantine/core";
import {
  getSetup,
  makeFirstLink,
  type SetupState,
  type SetupStepName,
  skippableSteps,
  skipSetupStep,
} from "../../../../../server/features/appliance/setup-contract.ts";
import { translator } from "../../../../shared/i18n.ts";
import { CopyField } from "../../../../shared/ui/kit/CopyField.tsx";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { StatusBadge } from "../../../../shared/ui/kit/StatusBadge.tsx";
import { useConnection } from "../connection.ts";
import { Failure } from "../Failure.tsx";
import { setupWords } from "../finding-words.ts";
import { Loaded } from "../Loaded.tsx";
import { useLocal, useLocalAct } from "../local.ts";
import { PageLink } from "../PageLink.tsx";
import { Words } from "../Said.tsx";
import { ServiceControl } from "../shell/ServiceControl.tsx";
import { SetupOwner } from "./setup/SetupOwner.tsx";

const t = translator("console");

/** Leads from an empty appliance to one that seals: every step is read off from what is there, and can be left at any time. */
export function SetupPage() {
  const setup = useLocal(getSetup, {});
  const connection = useConnection();
  return (
    <>
      <PageHeader title={t("setup.nav")} description={t("setup.description")} />
      <Loaded query={setup} rows={8}>
        {({ complete, steps, restartNeeded }) => (
          <>
            {complete && (
              <div className="notice" role="status">
                <strong>{t("setup.complete")}</strong>
                {t("setup.completeText")}
              </div>
            )}
            {restartNeeded && (
              <div className="notice" role="status">
                <strong>{t("settings.restartTitle")}</strong>
                <p>{t("settings.restartText")}</p>
                {connection.data?.remote === false && (
                  <ServiceControl verbs={["restart"]} onDone={() => void connection.refetch()} />
                )}
              </div>
            )}
            <ol className="steps">
              {steps.map((step) => (
                <Step key={step.step} step={step} />
              ))}
            </ol>
          </>
        )}
      </Loaded>
    </>
  );
}

const tones = { done: "good", open: "waiting", skipped: "neutral" } as const;

/** Where each step is done. */
const places: Readonly<Partial<Record<SetupStepName, "settings" | "network" | "mail" | "keys" | "diagnostics">>> = {
  address: "settings",
  tls: "network",
  mail: "mail",
  clock: "diagnostics",
  keys: "keys",
  backup: "settings",
  summary: "diagnostics",
};

function Step({ step: known }: { step: SetupState["steps"][number] }) {
  const { step, state } = known;
  const { detail, action } = setupWords(known);
  const skip = useLocalAct(skipSetupStep, { changes: [getSetup] });
  const place = places[step];
  const skippable = state !== "done" && skippableSteps.includes(step);
  return (
    <li data-state={state}>
      <h2>
        {t(`setup.step.${step}`)} <StatusBadge tone={tones[state]}>{t(`setup.state.${state}`)}</StatusBadge>
      </h2>
      <p>
        <Words>{detail}</Words>
      </p>
      {action !== null && (
        <p className="soft">
          <Words>{action}</Words>
        </p>
      )}
      {skip.isError && <Failure error={skip.error} />}
      {step === "owner" && state !== "done" && (
        <>
          <SetupOwner />
          <FirstLink />
          <p>
            {t("setup.orRestore")} <PageLink to="restore">{t("restore.nav")}</PageLink>
          </p>
        </>
      )}
      <Group>
        {place && <PageLink to={place}>{t(`${place}.nav`)}</PageLink>}
        {skippable && (
          <Button
            size="compact-sm"
            variant="subtle"
            loading={skip.isPending}
            onClick={() => skip.mutate({ params: { step }, body: { skip: state === "open" } })}
          >
            {state === "open" ? t("setup.skip") : t("setup.takeUp")}
            <span className="spoken"> {t(`setup.step.${step}`)}</span>
          </Button>
        )}
      </Group>
    </li>
  );
}

/** For who creates the first owner in the browser instead. */
function FirstLink() {
  const make = useLocalAct(makeFirstLink);
  return (
    <div className="form below">
      {make.isError && <Failure error={make.error} />}
      {make.isSuccess && <CopyField label={t("setup.link")} value={make.data.link} description={t("setup.linkHint")} />}
      <Button variant="default" loading={make.isPending} onClick={() => make.mutate({})}>
        {t("setup.makeLink")}
      </Button>
    </div>
  );
}
