import { Button, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { getUpdate, type UpdateState, verifyUpdate } from "../../../../../server/features/update/contract.ts";
import { translator } from "../../../../shared/i18n.ts";
import { CopyField } from "../../../../shared/ui/kit/CopyField.tsx";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { ask } from "../bridge.ts";
import { bytes } from "../bytes.ts";
import { useConnection } from "../connection.ts";
import { Failure } from "../Failure.tsx";
import { Loaded } from "../Loaded.tsx";
import { useLocal, useLocalAct } from "../local.ts";
import { Said } from "../Said.tsx";
import { Outcome, UpdateHistory } from "./update/UpdateHistory.tsx";
import { UpdateRunning } from "./update/UpdateRunning.tsx";

const t = translator("console");

/** The version, a check of an update before it is applied, and what became of those before. */
export function UpdatePage() {
  const update = useLocal(getUpdate, {}, { refetchInterval: 5000 });
  return (
    <>
      <PageHeader title={t("update.nav")} description={t("update.description")} />
      <Loaded query={update}>
        {(state) => (
          <div className="sections">
            {/* Begun anew by each update: the stream of the one before has ended with its process. */}
            {state.latest?.outcome === null && !state.interrupted && (
              <UpdateRunning key={`${state.latest.id}-${state.version}`} latest={state.latest} />
            )}
            <State state={state} />
          </div>
        )}
      </Loaded>
      <div className="sections below">
        <section aria-labelledby="update-verify">
          <h2 id="update-verify">{t("update.verifyTitle")}</h2>
          <VerifyForm />
        </section>
      </div>
      <h2>{t("update.history")}</h2>
      <UpdateHistory />
    </>
  );
}

function State({
  state: { version, platform, obstacle, installation, maintenance, latest, interrupted },
}: {
  state: UpdateState;
}) {
  return (
    <section aria-labelledby="update-state">
      <h2 id="update-state">{t("update.installed")}</h2>
      {interrupted && (
        <div className="notice bad" role="alert">
          <strong>{t("update.interrupted")}</strong>
          <CopyField label={t("update.resume")} value="sudo signet update resume" />
        </div>
      )}
      {maintenance && (
        <p className="notice" role="status">
          {t("update.maintenance", { version: maintenance.to })}
        </p>
      )}
      <dl className="facts">
        <dt>{t("update.version")}</dt>
        <dd>
          {version} ({platform})
        </dd>
        {installation?.previous && (
          <>
            <dt>{t("update.previous")}</dt>
            <dd>{installation.previous}</dd>
          </>
        )}
        {latest && latest.outcome !== null && (
          <>
            <dt>{t("update.latest")}</dt>
            <dd>
              {latest.from} → {latest.to} <Outcome run={latest} />
            </dd>
          </>
        )}
      </dl>
      {obstacle !== null && (
        <p className="soft">
          <Said>{obstacle}</Said>
        </p>
      )}
    </section>
  );
}

/** Checks a file that lies on the appliance's machine; applying it needs root, so a command does that. */
function VerifyForm() {
  const [file, setFile] = useState("");
  const connection = useConnection();
  const verify = useLocalAct(verifyUpdate);
  const pick = useMutation({
    mutationFn: () => ask("path.pick", { kind: "file" }),
    onSuccess: (picked) => picked && setFile(picked.path),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    verify.mutate({ body: { file: file.trim() } });
  };
  return (
    <form className="form" onSubmit={submit}>
      <TextInput
        label={t("update.file")}
        description={t("update.fileHint")}
        required
        spellCheck={false}
        maxLength={4096}
        value={file}
        onChange={(event) => {
          setFile(event.currentTarget.value);
          verify.reset();
        }}
      />
      {connection.data?.remote === false && (
        <Button variant="default" onClick={() => pick.mutate()}>
          {t("update.pick")}
        </Button>
      )}
      {verify.isError && <Failure error={verify.error} />}
      {verify.data && (
        <div className="notice" role="status">
          <strong>{t("update.good", { version: verify.data.version })}</strong>
          <p>{t("update.signedBy", { names: verify.data.signedBy.join(", "), size: bytes(verify.data.bytes) })}</p>
          <CopyField
            label={t("update.apply")}
            value={`sudo signet update apply '${file.trim().replaceAll("'", "'\\''")}'`}
          />
        </div>
      )}
      <Button type="submit" loading={verify.isPending}>
        {t("update.verify")}
      </Button>
    </form>
  );
}
