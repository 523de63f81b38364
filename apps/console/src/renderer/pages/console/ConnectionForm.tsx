import { Button, Radio, Stack, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { translator } from "../../../../../shared/i18n.ts";
import { notify } from "../../../../../shared/ui/kit/notify.tsx";
import { type NativeInput, type NativeOutput, SocketPath } from "../../../shared/native.ts";
import { ask } from "../../bridge.ts";
import { Failure } from "../../Failure.tsx";

const t = translator("console");

const places = ["default", "path", "remote"] as const;
type Place = (typeof places)[number];

/** The appliance of this machine, one at another path, or one whose socket is forwarded from another machine. */
export function ConnectionForm({ chosen }: { chosen: NativeOutput<"connection.get"> }) {
  const queries = useQueryClient();
  const [place, setPlace] = useState<Place>(chosen.byDefault ? "default" : chosen.remote ? "remote" : "path");
  const [socket, setSocket] = useState(chosen.byDefault ? "" : chosen.socket);
  const [wrong, setWrong] = useState(false);
  const save = useMutation({
    mutationFn: (input: NativeInput<"connection.set">) => ask("connection.set", input),
    onSuccess: async () => {
      notify({ message: t("console.saved") });
      await queries.invalidateQueries();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (place === "default") return save.mutate({ chosen: null });
    const parsed = SocketPath.safeParse(socket);
    setWrong(!parsed.success);
    if (parsed.success) save.mutate({ chosen: { socket: parsed.data, remote: place === "remote" } });
  };
  return (
    <form className="form" onSubmit={submit} noValidate>
      <Radio.Group label={t("console.which")} value={place} onChange={(value) => setPlace(placeOf(value))}>
        <Stack gap="xs" mt="xs">
          {places.map((one) => (
            <Radio
              key={one}
              value={one}
              label={t(`console.place.${one}`)}
              description={t(`console.placeHint.${one}`)}
            />
          ))}
        </Stack>
      </Radio.Group>
      {place !== "default" && (
        <TextInput
          label={t("console.path")}
          description={place === "remote" ? t("console.pathRemoteHint") : t("console.pathHint")}
          value={socket}
          spellCheck={false}
          autoComplete="off"
          error={wrong && t("console.notAPath")}
          onChange={(event) => {
            setSocket(event.currentTarget.value);
            setWrong(false);
          }}
        />
      )}
      {save.isError && <Failure error={save.error} />}
      <Button type="submit" loading={save.isPending}>
        {t("console.save")}
      </Button>
    </form>
  );
}

const placeOf = (value: string): Place => places.find((one) => one === value) ?? "default";
