"""Starts LocalStack over a DynamoDB Local that lies unpacked in the folder named on the command line, where it would download one."""

import sys

from localstack.services.dynamodb import server

FOLDER = sys.argv.pop(1)


class Unpacked:
    """Stands for the package that LocalStack would download, and for its installer."""

    def get_installer(self):
        return self

    def install(self):
        pass

    def get_java_env_vars(self):
        return {}


def command(self):
    java = ["java", f"-Xmx{self.heap_size}", f"-Djava.library.path={FOLDER}/DynamoDBLocal_lib"]
    return java + ["-jar", f"{FOLDER}/DynamoDBLocal.jar", "-port", str(self.port), "-inMemory"]


server.dynamodblocal_package = Unpacked()
server.DynamodbServer._create_shell_command = command

if __name__ == "__main__":
    from localstack.runtime.main import main

    main()
