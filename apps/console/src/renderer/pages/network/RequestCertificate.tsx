import { Button, Textarea, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { getTls, requestCertificate } from "../../../../../../server/features/tls/contract.ts";
import { translator } from "../../../../../shared/i18n.ts";
import { notify } from "../../../../../shared/ui/kit/notify.tsx";
import { Failure } from "../../Failure.tsx";
import { useLocalAct } from "../../local.ts";

const t = translator("console");

/** Makes a key on the appliance and a request for an authority. */
export function RequestCertificate({ host }: { host: string }) {
  const [names, setNames] = useState(host);
  const [organization, setOrganization] = useState("");
  const request = useLocalAct(requestCertificate, {
    changes: [getTls],
    onDone: () => notify({ message: t("network.requested") }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const named = names.split(/[\s,]+/).filter((name) => name !== "");
    const trimmed = organization.trim();
    request.mutate({ body: { names: named, ...(trimmed === "" ? {} : { organization: trimmed }) } });
  };
  return (
    <form className="form" onSubmit={submit}>
      <Textarea
        label={t("network.namesLabel")}
        description={t("network.namesHint")}
        autosize
        required
        spellCheck={false}
        value={names}
        onChange={(event) => setNames(event.currentTarget.value)}
      />
      <TextInput
        label={t("network.organizationLabel")}
        maxLength={64}
        value={organization}
        onChange={(event) => setOrganization(event.currentTarget.value)}
      />
      {request.isError && <Failure error={request.error} />}
      <Button type="submit" loading={request.isPending}>
        {t("network.request")}
      </Button>
    </form>
  );
}
