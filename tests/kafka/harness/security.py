"""A broker's certificate and its users, made anew for each cluster."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

STORE_PASSWORD = "only-for-this-test"  # guards a keystore in a temporary folder
USERS = {"groundwire": "groundwire-secret"}


@dataclass(frozen=True)
class Certificate:
    """A self-signed certificate for 127.0.0.1 and localhost: the broker's keystore, and the PEM file clients trust."""

    keystore: Path
    cafile: Path


def make_certificate(folder: Path) -> Certificate:
    """Made with the JDK's own keytool, so that a JDK is all that is needed."""
    keystore, cafile = folder / "broker.p12", folder / "ca.pem"
    common = ["-keystore", str(keystore), "-storetype", "PKCS12", "-storepass", STORE_PASSWORD, "-alias", "broker"]
    _keytool(
        "-genkeypair",
        *common,
        *["-keyalg", "RSA", "-keysize", "2048", "-validity", "30", "-dname", "CN=127.0.0.1"],
        *["-ext", "SAN=ip:127.0.0.1,dns:localhost", "-ext", "bc:c=ca:true"],
    )
    _keytool("-exportcert", *common, "-rfc", "-file", str(cafile))
    return Certificate(keystore, cafile)


def _keytool(*arguments: str) -> None:
    done = subprocess.run(["keytool", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"keytool {arguments[0]}: {done.stdout}{done.stderr}")


def broker_settings(certificate: Certificate) -> dict[str, str]:
    """The properties that switch TLS, SASL PLAIN and SASL SCRAM-SHA-512 on for the listeners named after them."""
    plain = "org.apache.kafka.common.security.plain.PlainLoginModule required " + " ".join(
        f'user_{name}="{password}"' for name, password in USERS.items()
    )
    scram = "org.apache.kafka.common.security.scram.ScramLoginModule required"
    settings = {
        "ssl.keystore.type": "PKCS12",
        "ssl.keystore.location": str(certificate.keystore),
        "ssl.keystore.password": STORE_PASSWORD,
        "ssl.key.password": STORE_PASSWORD,
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
    }
    for listener in ("sasl_plaintext", "sasl_ssl"):
        settings[f"listener.name.{listener}.plain.sasl.jaas.config"] = plain + ";"
        settings[f"listener.name.{listener}.scram-sha-512.sasl.jaas.config"] = scram + ";"
    return settings


def scram_arguments() -> list[str]:
    """For the storage format command: SCRAM users live in the cluster's metadata and must be there from the start."""
    arguments = []
    for name, password in USERS.items():
        arguments += ["--add-scram", f"SCRAM-SHA-512=[name={name},password={password}]"]
    return arguments
