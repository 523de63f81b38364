import { NativeSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  getTemplateDocument,
  getTemplateVersion,
  type OverlayItem,
  type TemplateVersion,
} from "../../../../../server/features/templates/contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { useEndpoint } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { PdfPages } from "../../../../shared/pdf/PdfPages.tsx";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Dialog } from "../../../../shared/ui/kit/Dialog.tsx";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";
import { type Comparison, compareVersions, type Difference } from "./compare.ts";
import { type Draft, draftOf } from "./model.ts";
import { itemName } from "./words.ts";

type Props = { template: string; versions: readonly TemplateVersion[]; onClose: () => void };

const nameOf = ({ version }: TemplateVersion) => (version === null ? "draft" : String(version));

/** Two versions side by side, what differs outlined on the pages and said in words. */
export function CompareDialog({ template, versions, onClose }: Props) {
  const t = translator("templates");
  const [newest, previous = newest] = versions.map(nameOf);
  const [before, setBefore] = useState(previous ?? "draft");
  const [after, setAfter] = useState(newest ?? "draft");
  const names = versions.map((version) => ({
    value: nameOf(version),
    label: version.version === null ? t("version.draft") : t("version.number", { version: version.version }),
  }));
  const [earlier, later] = [useVersion(template, before), useVersion(template, after)];
  const comparison = earlier.draft && later.draft ? compareVersions(earlier.draft, later.draft) : null;
  const error = earlier.error ?? later.error;
  return (
    <Dialog opened onClose={onClose} size="90rem" title={t("compare.title")}>
      <div className="compare-choice">
        <NativeSelect
          label={t("compare.before")}
          value={before}
          data={names}
          onChange={(event) => setBefore(event.currentTarget.value)}
        />
        <NativeSelect
          label={t("compare.after")}
          value={after}
          data={names}
          onChange={(event) => setAfter(event.currentTarget.value)}
        />
      </div>
      {error !== null && <Failure error={error} />}
      {comparison ? <Words comparison={comparison} /> : error === null && <Loading rows={4} />}
      {comparison && (
        <div className="compare-pages">
          {[
            { side: earlier, name: before, kinds: ["removed", "changed"], title: t("compare.before") },
            { side: later, name: after, kinds: ["added", "changed"], title: t("compare.after") },
          ].map(({ side, name, kinds, title }, index) => (
            <section key={title} aria-label={title}>
              <h3>{names.find(({ value }) => value === name)?.label}</h3>
              {side.draft && (
                <Pages
                  template={template}
                  version={name}
                  hash={side.hash}
                  marks={comparison.items
                    .filter(({ kind }) => kinds.includes(kind))
                    .map((difference) => markOf(difference, index === 0))}
                />
              )}
            </section>
          ))}
        </div>
      )}
    </Dialog>
  );
}

function useVersion(template: string, name: string): { draft: Draft | null; hash: string; error: unknown } {
  const { data, error } = useEndpoint(getTemplateVersion, { params: { id: template, version: name } });
  return { draft: data ? draftOf("", data) : null, hash: data?.contentHash ?? "", error };
}

/** Each difference on a line of its own. */
function Words({ comparison }: { comparison: Comparison }) {
  const t = translator("templates");
  const { items, file, roles, variables, settings } = comparison;
  const said = [
    ...(file ? [t("compare.pdf")] : []),
    ...(roles ? [t("compare.roles")] : []),
    ...(variables ? [t("compare.variables")] : []),
    ...(settings ? [t("compare.settings")] : []),
    ...items.map((difference) => {
      const { kind, item } = difference;
      const about = { name: itemName(t, item), page: item.page };
      if (kind !== "changed") return t(`compare.${kind}`, about);
      return t("compare.changed", {
        ...about,
        members: difference.what.map((what) => t(`compare.members.${what}`)).join(", "),
      });
    }),
  ];
  if (said.length === 0) return <p role="status">{t("compare.same")}</p>;
  return (
    <ul className="compare-words">
      {said.map((text, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two items may be called the same
        <li key={index}>{text}</li>
      ))}
    </ul>
  );
}

type Mark = { kind: Difference["kind"]; item: OverlayItem };
const markOf = (difference: Difference, isEarlier: boolean): Mark => ({
  kind: difference.kind,
  item: difference.kind === "changed" && isEarlier ? difference.before : difference.item,
});

function Pages({
  template,
  version,
  hash,
  marks,
}: {
  template: string;
  version: string;
  hash: string;
  marks: readonly Mark[];
}) {
  const t = translator("templates");
  const [broken, setBroken] = useState<unknown>(null);
  const document = useQuery({
    queryKey: [getTemplateDocument.id, template, version, "edited", hash],
    queryFn: ({ signal }) =>
      callEndpoint(getTemplateDocument, { params: { id: template, version }, query: { edited: "true" }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (document.isError || broken !== null) return <Failure error={document.error ?? broken} />;
  if (!document.data) return <Loading rows={6} />;
  return (
    <PdfPages
      bytes={document.data.bytes}
      pages={none}
      onFailure={setBroken}
      overlay={(page, scale) =>
        marks
          .filter(({ item }) => item.page === page)
          .map(({ kind, item }) => (
            <span
              key={`${item.type} ${item.id}`}
              className="compare-mark"
              data-kind={kind}
              role="img"
              aria-label={t(`compare.mark.${kind}`, { name: itemName(t, item) })}
              style={{
                left: item.x * scale,
                top: item.y * scale,
                width: item.width * scale,
                height: item.height * scale,
              }}
            />
          ))
      }
    />
  );
}

/** Not known: the document says them. */
const none: readonly never[] = [];
