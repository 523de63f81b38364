import { Button, Group, Radio, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import { translator } from "../../../../shared/i18n.ts";
import { Dialog } from "../../../../shared/ui/kit/Dialog.tsx";
import { pagesOf } from "./page-range.ts";

type Props = {
  pages: number;
  /** How many items are copied. */
  count: number;
  onCopy: (pages: readonly number[]) => void;
  onClose: () => void;
};

const kinds = ["all", "odd", "even", "range"] as const;

/** Asks on which pages copies of the chosen items are wanted. */
export function CopyToPages({ pages, count, onCopy, onClose }: Props) {
  const t = translator("templates");
  const [kind, setKind] = useState<(typeof kinds)[number]>("all");
  const [text, setText] = useState("");
  const [refused, setRefused] = useState(false);
  const copy = () => {
    const wanted = pagesOf(kind === "range" ? { kind, text } : { kind }, pages);
    if (wanted === null) return setRefused(true);
    onClose();
    onCopy(wanted);
  };
  return (
    <Dialog opened onClose={onClose} title={t("canvas.copy.title", { count })} centered>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          copy();
        }}
      >
        <Stack gap="md">
          <Radio.Group
            label={t("canvas.copy.pages")}
            value={kind}
            onChange={(next) => setKind(kinds.find((known) => known === next) ?? "all")}
          >
            <Stack gap="xs" mt="xs">
              {kinds.map((name) => (
                <Radio key={name} value={name} label={t(`canvas.copy.${name}`)} />
              ))}
            </Stack>
          </Radio.Group>
          {kind === "range" && (
            <TextInput
              label={t("canvas.copy.which")}
              description={t("canvas.copy.example")}
              value={text}
              error={refused && t("canvas.copy.wrong", { pages })}
              onChange={(event) => {
                setText(event.currentTarget.value);
                setRefused(false);
              }}
            />
          )}
          <Group justify="flex-end" gap="sm">
            <Button variant="default" onClick={onClose}>
              {translator("common")("cancel")}
            </Button>
            <Button type="submit">{t("canvas.copy.confirm")}</Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
