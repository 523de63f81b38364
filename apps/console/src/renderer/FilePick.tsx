import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { ask } from "./bridge.ts";
import { Failure } from "./Failure.tsx";

export type Picked = { name: string; base64: string };

type Props = {
  kind: "certificate" | "key" | "any";
  label: string;
  picked: Picked | null;
  onPicked: (picked: Picked) => void;
};

/** A small file that the person picks in a dialog of the main process. */
export function FilePick({ kind, label, picked, onPicked }: Props) {
  const pick = useMutation({
    mutationFn: () => ask("file.pick", { kind }),
    onSuccess: (file) => file && onPicked(file),
    // What was picked may hold a key.
    gcTime: 0,
  });
  return (
    <div>
      <Button variant="default" loading={pick.isPending} onClick={() => pick.mutate()}>
        {label}
      </Button>{" "}
      <span role="status">{picked?.name ?? ""}</span>
      {pick.isError && <Failure error={pick.error} />}
    </div>
  );
}
