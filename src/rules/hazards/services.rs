//! Commands and options of what works on other machines, in containers, clouds and databases: data, each row with its
//! reason.
//!
//! Invariant: nothing but data.

use super::Row;
use super::sign::Sign::{
    Always, Any, Begins, Has, Input, Letters, Longs, Only, OnlyTwo, OtherLongs, Part, Short, Unless, Within, Words,
};

/// Why most of them ask.
const ELSEWHERE: &str = "changes or sends what is elsewhere, or runs a program there";

pub(super) const SERVICES: &[Row] = &[
    Row {
        programs: &["ansible"],
        signs: &[
            Short("-a"),
            Short("-M"),
            Short("-e"),
            Longs(
                "--args --module-path --extra-vars --ssh-common-args --ssh-extra-args --scp-extra-args --sftp-extra-args --vault-password-file --vault-id --become-password-file --connection-password-file --become-method --connection --playbook-dir --private-key --tree",
            ),
            Short("-c"),
            Short("-t"),
        ],
        reason: "runs a command of any kind there, or names a program that runs here",
    },
    Row {
        programs: &["ansible", "ansible-playbook", "ansible-inventory"],
        signs: &[Short("-i"), Longs("--inventory --inventory-file")],
        reason: "a list of machines may be a program",
    },
    Row {
        programs: &["ansible-playbook"],
        signs: &[
            Longs(
                "--extra-vars --module-path --ssh-common-args --ssh-extra-args --scp-extra-args --sftp-extra-args --vault-password-file --vault-id --become-password-file --connection-password-file --become-method --connection --private-key",
            ),
            Short("-e"),
            Short("-M"),
            Short("-c"),
            // With `--check` tasks and what looks values up may run all the same.
            Unless("--syntax-check --list-tasks --list-hosts --list-tags --version --help"),
        ],
        reason: ELSEWHERE,
    },
    Row {
        programs: &["ansible-lint"],
        signs: &[Letters("rRc"), Longs("--rules-dir --config-file --project-dir")],
        reason: "loads code, or takes settings from elsewhere",
    },
    Row {
        programs: &["ansible-vault"],
        signs: &[
            Only("encrypt encrypt_string --version --help"),
            Longs(
                "--vault-password-file --vault-pass-file --vault-id --new-vault-password-file --new-vault-id --output",
            ),
        ],
        reason: "shows secrets, opens an editor, or runs the program that has the password",
    },
    Row {
        programs: &[
            "ansible-console",
            "ansible-pull",
            "ansible-navigator",
            "ansible-runner",
            "salt",
            "salt-call",
            "salt-ssh",
            "puppet",
            "chef-client",
            "chef-solo",
            "chef-apply",
            "knife",
            "fab",
            "cap",
            "mina",
        ],
        signs: &[Unless("--version --help")],
        reason: ELSEWHERE,
    },
    Row {
        programs: &["helm"],
        signs: &[
            Only(
                "template lint list ls show status history get search version env dependency dep package create verify help",
            ),
            Has("://"),
            Longs("--kube-apiserver --kube-context --registry-config --repo --ca-file --kube-token --validate"),
        ],
        reason: ELSEWHERE,
    },
    Row {
        programs: &["kustomize"],
        signs: &[
            Only("build version cfg completion help"),
            Longs(
                "--enable-exec --enable-alpha-plugins --enable-helm --helm-command --load-restrictor --network --mount --env",
            ),
            Has("://"),
        ],
        reason: "runs the programs that its files name, or fetches some",
    },
    Row {
        programs: &["oc"],
        signs: &[
            Only("get describe logs explain version api-resources api-versions status projects project whoami"),
            Longs("--kubeconfig --server --token --as --cluster --context --user --client-certificate"),
            Has("://"),
            Part("secret secrets"),
        ],
        reason: ELSEWHERE,
    },
    Row {
        programs: &["minikube", "kind", "k3d"],
        signs: &[Only("status ip get list version profile logs help")],
        reason: ELSEWHERE,
    },
    Row {
        programs: &["skaffold", "tilt"],
        signs: &[Only("render diagnose version inspect schema --version help")],
        reason: ELSEWHERE,
    },
    Row {
        programs: &["pulumi"],
        signs: &[
            Only("preview stack version about logs whoami help"),
            Words(&["stack", "rm"]),
            Words(&["stack", "init"]),
            Words(&["stack", "select"]),
            Words(&["stack", "export"]),
            Words(&["stack", "import"]),
            Longs("--cwd --config-file --exec-agent --policy-pack --save-plan --show-secrets"),
            Short("-C"),
        ],
        reason: ELSEWHERE,
    },
    Row {
        programs: &["terragrunt"],
        signs: &[
            Only("plan validate output show graph hclfmt version --version"),
            Has("tfpath"),
            Has("tf-path"),
            Has("working-dir"),
            Has("hook"),
            Has("source"),
            Has("terragrunt-config"),
            Has("download-dir"),
        ],
        reason: ELSEWHERE,
    },
    Row {
        programs: &["cdk", "cdktf"],
        signs: &[
            Only("synth synthesize list ls diff doctor docs --version version"),
            Short("-a"),
            Longs("--app --plugin --output --role-arn --profile --build"),
        ],
        reason: ELSEWHERE,
    },
    Row {
        programs: &["serverless", "sls", "sam"],
        signs: &[
            Only("validate info print package build --version version"),
            Longs("--config --hook-name --base-dir --build-image --param"),
            Short("-c"),
        ],
        reason: ELSEWHERE,
    },
    Row {
        programs: &["packer"],
        signs: &[Only("validate fmt inspect version --version"), Longs("--var-file -var-file -var")],
        reason: ELSEWHERE,
    },
    Row {
        programs: &["docker", "podman"],
        signs: &[Within(
            "compose",
            "attach build config convert create down events images kill logs ls pause port ps pull restart rm scale start \
             stats stop top unpause up version volumes wait watch",
            "--ansi= --progress= --parallel= --profile= --project-name= -p= --compatibility --dry-run --verbose",
        )],
        reason: "runs a command in a container, copies files from there, or does what another file says",
    },
    Row {
        programs: &["docker-compose", "podman-compose"],
        signs: &[
            Only("ps logs config images top port version events ls --version"),
            Short("-f"),
            Longs("--file --project-directory --env-file --host --output"),
        ],
        reason: "runs a command, with the machine's files if it wants",
    },
    Row {
        programs: &["nerdctl", "buildah", "crictl", "ctr"],
        signs: &[
            Only("ps images logs version info inspect top port history stats containers"),
            Longs("--host --address --root --runroot --config --storage-driver"),
        ],
        reason: "runs a command, with the machine's files if it wants",
    },
    Row {
        programs: &["skopeo", "crane", "oras", "regctl"],
        signs: &[
            Only("inspect list-tags ls manifest digest catalog version --version"),
            Longs("--authfile --registries-conf --registries.d --policy"),
        ],
        reason: ELSEWHERE,
    },
    Row {
        programs: &["aws"],
        signs: &[
            OnlyTwo(
                "sts/get-caller-identity s3/ls configure/list help/ --version/ ec2/describe-instances ec2/describe-regions logs/describe-log-groups cloudformation/validate-template cloudformation/list-stacks ecs/list-clusters lambda/list-functions iam/get-user",
            ),
            Longs("--endpoint-url --ca-bundle --cli-input-json --cli-input-yaml --profile"),
        ],
        reason: ELSEWHERE,
    },
    Row {
        programs: &["gcloud"],
        signs: &[
            OnlyTwo(
                "version/ info/ help/ --version/ config/list auth/list projects/list compute/instances/list compute/zones/list \
                compute/regions/list compute/disks/list compute/networks/list container/clusters/list run/services/list \
                sql/instances/list functions/list services/list iam/roles/list storage/buckets/list",
            ),
            OtherLongs(
                "--format --filter --limit --page-size --sort-by --project --zone --zones --region --regions --location --uri \
                --quiet --verbosity --help --version --all --global",
            ),
        ],
        reason: ELSEWHERE,
    },
    Row {
        programs: &["az"],
        signs: &[OnlyTwo("version/ account/show account/list group/list --version/ --help/")],
        reason: ELSEWHERE,
    },
    Row {
        programs: &["gsutil", "s3cmd", "rclone"],
        signs: &[
            Only("ls lsl lsd lsf lsjson du size stat check version about listremotes info --version"),
            Has("command"),
            Has("config"),
            Has("rc"),
        ],
        reason: ELSEWHERE,
    },
    Row {
        programs: &[
            "heroku",
            "fly",
            "flyctl",
            "vercel",
            "netlify",
            "wrangler",
            "firebase",
            "railway",
            "render",
            "doctl",
            "linode-cli",
            "hcloud",
        ],
        signs: &[Only("status version --version whoami help logs list ls info apps")],
        reason: ELSEWHERE,
    },
    Row {
        programs: &[
            "psql",
            "mysql",
            "mariadb",
            "pgcli",
            "mycli",
            "litecli",
            "usql",
            "sqlplus",
            "sqlcmd",
            "isql",
            "osql",
            "cqlsh",
            "influx",
            "pg_restore",
            "dropdb",
            "createdb",
            "dropuser",
            "createuser",
            "mysqladmin",
            "mysqlimport",
            "mongorestore",
            "mongoimport",
            "clickhouse",
            "clickhouse-client",
            "clickhouse-local",
        ],
        signs: &[Always],
        reason: "its commands, also those from standard input, run programs, write files or change a database",
    },
    Row {
        programs: &["csvsql", "sql2csv"],
        signs: &[Longs("--db --insert --before-insert --after-insert --engine-option --overwrite")],
        reason: "changes a database",
    },
    Row { programs: &["duckdb"], signs: &[Always], reason: "its commands run programs and write files" },
    Row {
        programs: &["redis-cli", "valkey-cli"],
        signs: &[
            Only(
                "ping get mget info keys scan exists type ttl llen lrange hget hgetall scard smembers zcard zrange dbsize strlen --version",
            ),
            Input,
        ],
        reason: "its commands run programs, write files or end the server",
    },
    Row {
        programs: &["mysqldump", "mariadb-dump"],
        signs: &[Longs("--tab --init-command --plugin-dir --defaults-file --defaults-extra-file --pager"), Short("-T")],
        reason: "writes elsewhere, or loads code",
    },
    Row {
        programs: &[
            "prisma",
            "supabase",
            "flyway",
            "liquibase",
            "alembic",
            "dbmate",
            "goose",
            "sqlx",
            "diesel",
            "knex",
            "sequelize",
            "sequelize-cli",
            "typeorm",
            "drizzle-kit",
            "sea-orm-cli",
            "mikro-orm",
            "migrate",
            "sqitch",
            "airflow",
            "hadoop",
            "hdfs",
        ],
        signs: &[Only(
            "validate format generate info status version history current heads show list ls help --version --help",
        )],
        reason: "changes a database, or what is elsewhere",
    },
    Row {
        programs: &["atlas"],
        signs: &[
            Words(&["schema", "clean"]),
            Words(&["schema", "apply"]),
            Words(&["migrate", "apply"]),
            Words(&["migrate", "down"]),
            Words(&["migrate", "set"]),
            Short("-c"),
            Longs("--config"),
        ],
        reason: "changes a database, or runs the programs that settings from elsewhere name",
    },
    Row {
        programs: &["sops"],
        signs: &[Any("exec-env exec-file edit publish updatekeys")],
        reason: "runs a program with secrets",
    },
    Row {
        programs: &["gpg", "gpg2"],
        signs: &[Only(
            "--list-keys -k --list-secret-keys -K --verify --fingerprint --version --list-packets --print-md",
        )],
        reason: "runs the programs that options name, writes files, or uses keys",
    },
    Row { programs: &["ssh-keygen", "ssh-add"], signs: &[Short("-D"), Short("-s"), Short("-P")], reason: "loads code" },
    Row {
        programs: &["borg", "restic", "duplicity", "unison"],
        signs: &[
            Longs("--rsh --option --password-command --sshcmd -sshcmd --ssh-options --remote-path"),
            Short("-o"),
            Short("-e"),
        ],
        reason: "names the program that connects",
    },
    Row {
        programs: &["aria2c"],
        signs: &[
            Begins("--on"),
            Short("-d"),
            Short("-o"),
            Short("-i"),
            Longs("--dir --out --input-file --conf-path --log --save-session --enable-rpc --save-cookies"),
        ],
        reason: "runs a program when it is done, or writes files of any name",
    },
    Row {
        programs: &["http", "https", "xh", "httpie"],
        signs: &[
            Has("@"),
            Short("-o"),
            Short("-d"),
            Longs("--output --download --session --session-read-only --verify --cert --cert-key"),
        ],
        reason: "writes files of any name, or sends them away",
    },
    Row { programs: &["sendmail", "msmtp", "swaks"], signs: &[Always], reason: "sends away what it is given" },
    Row {
        programs: &["nmap"],
        signs: &[
            Longs("--script --script-args --script-args-file --datadir --stylesheet --resume --iflist"),
            Short("-iL"),
            Short("-sC"),
            Short("-A"),
        ],
        reason: "runs scripts",
    },
    Row {
        programs: &["tshark", "wireshark", "dumpcap"],
        signs: &[Short("-X"), Short("-w"), Longs("--lua-script")],
        reason: "loads code, or writes a file",
    },
    Row {
        programs: &["supervisorctl", "launchctl", "service", "rc-service", "sv"],
        signs: &[Only("status list print version help --status-all --version")],
        reason: "starts, ends and changes services",
    },
    Row {
        programs: &["dbus-send", "gdbus", "qdbus", "busctl"],
        signs: &[Only("list status tree introspect monitor --version")],
        reason: "calls any program that listens",
    },
    Row {
        programs: &["watchman"],
        signs: &[Any("-j --json-command trigger trigger-del")],
        reason: "runs a program when a file changes",
    },
];
