import eu.europa.esig.dss.detailedreport.DetailedReport;
import eu.europa.esig.dss.diagnostic.DiagnosticData;
import eu.europa.esig.dss.enumerations.Indication;
import eu.europa.esig.dss.enumerations.SubIndication;
import eu.europa.esig.dss.model.FileDocument;
import eu.europa.esig.dss.model.x509.CertificateToken;
import eu.europa.esig.dss.simplereport.SimpleReport;
import eu.europa.esig.dss.spi.DSSUtils;
import eu.europa.esig.dss.spi.validation.CommonCertificateVerifier;
import eu.europa.esig.dss.spi.x509.CommonTrustedCertificateSource;
import eu.europa.esig.dss.validation.SignedDocumentValidator;
import eu.europa.esig.dss.validation.reports.Reports;
import eu.europa.esig.dss.jaxb.object.Message;

import java.io.ByteArrayInputStream;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What EU DSS says of signed PDFs, offline: nothing is fetched, so that a file has to pass by what it embeds.
 * Arguments: {@code --trust roots.pem} (any number), then files. Prints one JSON object a line for each file.
 */
public final class Main {
  public static void main(String[] args) throws Exception {
    CommonTrustedCertificateSource trusted = new CommonTrustedCertificateSource();
    List<String> files = new ArrayList<>();
    for (int at = 0; at < args.length; at += 1) {
      if (args[at].equals("--trust")) {
        at += 1;
        for (CertificateToken root : certificatesIn(args[at])) trusted.addCertificate(root);
      } else if (args[at].startsWith("@")) files.addAll(Files.readAllLines(Path.of(args[at].substring(1))));
      else files.add(args[at]);
    }
    for (String file : files) System.out.println(judged(file, trusted));
  }

  private static List<CertificateToken> certificatesIn(String file) throws Exception {
    String text = Files.readString(Path.of(file));
    Matcher pems = Pattern.compile("-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----").matcher(text);
    List<CertificateToken> found = new ArrayList<>();
    while (pems.find())
      found.add(DSSUtils.loadCertificate(new ByteArrayInputStream(pems.group().getBytes(StandardCharsets.US_ASCII))));
    return found;
  }

  private static String judged(String file, CommonTrustedCertificateSource trusted) {
    List<String> signatures = new ArrayList<>();
    String failure = null;
    try {
      CommonCertificateVerifier verifier = new CommonCertificateVerifier();
      verifier.setTrustedCertSources(trusted);
      verifier.setAIASource(null);
      verifier.setCrlSource(null);
      verifier.setOcspSource(null);
      SignedDocumentValidator validator = SignedDocumentValidator.fromDocument(new FileDocument(new File(file)));
      validator.setCertificateVerifier(verifier);
      SimpleReport report = validator.validateDocument().getSimpleReport();
      for (String id : report.getSignatureIdList()) signatures.add(signatureOf(report, id));
    } catch (Exception | StackOverflowError thrown) {
      failure = String.valueOf(thrown);
    }
    return "{" + pair("file", text(file)) + "," + pair("failure", failure == null ? "null" : text(failure)) + ","
        + pair("signatures", "[" + String.join(",", signatures) + "]") + "}";
  }

  private static String signatureOf(SimpleReport report, String id) {
    Set<String> errors = new LinkedHashSet<>();
    Set<String> warnings = new LinkedHashSet<>();
    List<String> tokens = new ArrayList<>();
    tokens.add(id);
    report.getSignatureTimestamps(id).forEach(timestamp -> tokens.add(timestamp.getId()));
    for (String token : tokens) {
      add(errors, report.getAdESValidationErrors(token));
      add(warnings, report.getAdESValidationWarnings(token));
    }
    Indication indication = report.getIndication(id);
    SubIndication sub = report.getSubIndication(id);
    return "{" + pair("indication", text(String.valueOf(indication))) + ","
        + pair("subIndication", sub == null ? "null" : text(sub.name())) + ","
        + pair("level", text(String.valueOf(report.getSignatureFormat(id)))) + ","
        + pair("errors", list(errors)) + "," + pair("warnings", list(warnings)) + "}";
  }

  private static void add(Set<String> all, List<Message> messages) {
    for (Message message : messages) all.add(message.getKey() + ": " + message.getValue());
  }

  private static String list(Set<String> values) {
    List<String> quoted = new ArrayList<>();
    for (String value : values) quoted.add(text(value));
    return "[" + String.join(",", quoted) + "]";
  }

  private static String pair(String name, String value) {
    return text(name) + ":" + value;
  }

  private static String text(String value) {
    StringBuilder quoted = new StringBuilder("\"");
    for (char one : value.toCharArray()) {
      if (one == '"' || one == '\\') quoted.append('\\').append(one);
      else if (one < ' ') quoted.append(String.format("\\u%04x", (int) one));
      else quoted.append(one);
    }
    return quoted.append('"').toString();
  }
}
